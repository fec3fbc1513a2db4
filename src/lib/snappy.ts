import { copyParts } from './bytes.js'
import { CairnError } from './errors.js'

/** Invalid snappy data or a checksum mismatch. */
export class CorruptSnappy extends CairnError {}

const MAX_CHUNK_BYTES = 65_536 // of one frame unpacked, section 4 of the framing format
const STREAM_IDENTIFIER = Uint8Array.from([0xff, 6, 0, 0, ...new TextEncoder().encode('sNaPpY')])
const COMPRESSED = 0x00
const UNCOMPRESSED = 0x01
const FIRST_SKIPPABLE = 0x80

/** Unpacks snappy's framing format (framing_format.txt of snappy), with the checksum of every frame checked, to at most
 *  `maxBytes`.
 *  @throws CorruptSnappy saying at which byte. */
export function decompressFrames(bytes: Uint8Array, maxBytes = Number.POSITIVE_INFINITY): Uint8Array {
  if (bytes.length < 10 || STREAM_IDENTIFIER.some((byte, at) => bytes[at] !== byte)) {
    throw new CorruptSnappy('expected the snappy stream identifier at byte 0')
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for (let at = STREAM_IDENTIFIER.length; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new CorruptSnappy(`the snappy frame at byte ${at} is cut off`)
    const type = bytes[at]
    const end = at + 4 + (bytes[at + 1] | (bytes[at + 2] << 8) | (bytes[at + 3] << 16))
    if (end > bytes.length) throw new CorruptSnappy(`the snappy frame at byte ${at} is cut off`)
    if (type === COMPRESSED || type === UNCOMPRESSED) {
      const chunk = readFrame(bytes, at, end)
      chunks.push(chunk)
      length += chunk.length
      if (length > maxBytes)
        throw new CorruptSnappy(`the snappy frame at byte ${at} makes more than ${maxBytes} bytes of it`)
    } else if (type < FIRST_SKIPPABLE) {
      throw new CorruptSnappy(`the snappy frame at byte ${at} is of the unknown type ${type}`)
    }
    at = end
  }
  if (chunks.length === 1) return chunks[0]
  const out = new Uint8Array(length)
  copyParts(chunks, out)
  return out
}

function readFrame(bytes: Uint8Array, at: number, end: number): Uint8Array {
  if (end - at < 8) throw new CorruptSnappy(`the snappy frame at byte ${at} has no checksum`)
  const expected = bytes[at + 4] | (bytes[at + 5] << 8) | (bytes[at + 6] << 16) | (bytes[at + 7] << 24)
  const payload = bytes.subarray(at + 8, end)
  const chunk = bytes[at] === COMPRESSED ? decompressBlock(payload, MAX_CHUNK_BYTES) : payload.slice()
  if (chunk.length > MAX_CHUNK_BYTES)
    throw new CorruptSnappy(`the snappy frame at byte ${at} is above ${MAX_CHUNK_BYTES} bytes`)
  const crc = crc32c(chunk)
  // Masked so that the checksum of data that contains checksums stays good (section 3).
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) | 0
  if (masked !== expected) throw new CorruptSnappy(`the snappy frame at byte ${at} does not have its checksum`)
  return chunk
}

/** Unpacks one raw snappy block (format_description.txt of snappy) of at most `maxBytes`.
 *  @throws CorruptSnappy. */
export function decompressBlock(bytes: Uint8Array, maxBytes: number): Uint8Array {
  let at = 0
  let length = 0
  for (let factor = 1; ; factor *= 128) {
    if (at >= bytes.length || at > 4) throw new CorruptSnappy('the length of a snappy block is cut off')
    const byte = bytes[at++]
    length += (byte & 0x7f) * factor
    if (byte < 0x80) break
  }
  if (length > maxBytes) throw new CorruptSnappy(`a snappy block of ${length} bytes is above ${maxBytes}`)
  const out = new Uint8Array(length)
  let written = 0
  while (at < bytes.length) {
    const tag = bytes[at++]
    if ((tag & 3) === 0) {
      let size = tag >> 2
      if (size >= 60) {
        const extra = size - 59
        size = readLittleEndian(bytes, at, extra)
        at += extra
      }
      size++
      if (at + size > bytes.length || written + size > length) throw new CorruptSnappy('a snappy literal runs over')
      copyBytes(bytes, at, out, written, size)
      at += size
      written += size
    } else {
      const width = (tag & 3) === 3 ? 4 : tag & 3
      let offset = readLittleEndian(bytes, at, width)
      at += width
      let size = (tag >> 2) + 1
      if (width === 1) {
        offset |= (tag >> 5) << 8
        size = ((tag >> 2) & 7) + 4
      }
      if (offset === 0 || offset > written || written + size > length)
        throw new CorruptSnappy('a snappy copy runs over')
      // Source and target may overlap, which repeats what was just written: byte by byte.
      for (let i = 0; i < size; i++) out[written + i] = out[written - offset + i]
      written += size
    }
  }
  if (written !== length) throw new CorruptSnappy(`expected ${length} bytes from a snappy block, got ${written}`)
  return out
}

function readLittleEndian(bytes: Uint8Array, at: number, width: number): number {
  if (at + width > bytes.length) throw new CorruptSnappy('a snappy element is cut off')
  let value = 0
  for (let i = width - 1; i >= 0; i--) value = value * 256 + bytes[at + i]
  return value
}

function copyBytes(from: Uint8Array, at: number, to: Uint8Array, target: number, size: number): void {
  if (size > 32) to.set(from.subarray(at, at + size), target)
  else for (let i = 0; i < size; i++) to[target + i] = from[at + i]
}

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc
})

/** CRC-32C (Castagnoli, RFC 3720 appendix B.4) as a signed 32-bit integer. */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1
  for (let i = 0; i < bytes.length; i++) crc = CRC32C_TABLE[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8)
  return crc ^ -1
}
