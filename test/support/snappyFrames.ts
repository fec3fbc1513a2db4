import { compress } from 'snappyjs'
import { crc32c } from '../../src/lib/snappy.js'

/** Snappy's framing format of the bytes; with `plain` the frames are not packed. */
export function compressFrames(bytes: Uint8Array, { plain = false } = {}): Uint8Array {
  const parts = [Buffer.from([0xff, 6, 0, 0]), Buffer.from('sNaPpY')]
  for (let at = 0; at < bytes.length; at += 65_536) {
    const chunk = bytes.slice(at, at + 65_536)
    const payload = plain ? chunk : compress(chunk)
    const head = Buffer.alloc(8)
    head.writeUIntLE(plain ? 1 : 0, 0, 1)
    head.writeUIntLE(payload.length + 4, 1, 3)
    const crc = crc32c(chunk) >>> 0
    head.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 4)
    parts.push(head, Buffer.from(payload))
  }
  return Uint8Array.from(Buffer.concat(parts))
}
