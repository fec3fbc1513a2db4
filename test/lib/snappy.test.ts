import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compress } from 'snappyjs'
import { CorruptSnappy, crc32c, decompressBlock, decompressFrames } from '../../src/lib/snappy.js'
import { seededRandom } from '../support/random.js'
import { compressFrames } from '../support/snappyFrames.js'

/** Bytes with repetitions near and far, so that every kind of element occurs. */
function repetitive(seed: number, length: number): Uint8Array {
  const random = seededRandom(seed)
  const out = new Uint8Array(length)
  for (let at = 0; at < length; ) {
    const size = Math.min(length - at, 1 + random.below(300))
    if (at > 0 && random.below(3) > 0) {
      const back = 1 + random.below(Math.min(at, 40_000))
      for (let i = 0; i < size; i++) out[at + i] = out[at + i - back]
    } else out.set(random.bytes(size), at)
    at += size
  }
  return out
}

describe('decompressBlock', () => {
  it('unpacks what another implementation packed', () => {
    for (const length of [0, 1, 59, 60, 61, 62, 255, 256, 257, 258, 5_000, 65_536]) {
      for (let seed = 0; seed < 5; seed++) {
        const bytes = repetitive(seed, length)
        assert.deepEqual(decompressBlock(compress(bytes), 65_536), bytes)
      }
    }
  })

  it('unpacks copies of every width', () => {
    const literal = [0x0c, 1, 2, 3, 4]
    for (const copy of [
      [0x01, 4],
      [0x0e, 4, 0],
      [0x0f, 4, 0, 0, 0],
    ]) {
      assert.deepEqual([...decompressBlock(Uint8Array.of(8, ...literal, ...copy), 100)], [1, 2, 3, 4, 1, 2, 3, 4])
    }
  })

  it('refuses elements that run over, lengths that are wrong and input that is cut off', () => {
    const cases = [
      [], // no length
      [0x80], // a length cut off
      [0xff, 0xff, 0xff, 0xff, 0xff, 0x01], // a length of six bytes
      [2, 0x0c, 1, 2], // a literal beyond the input
      [1, 0x04, 1, 2], // a literal beyond the output
      [8, 0x0c, 1, 2, 3, 4, 0x01, 5], // a copy from before the start
      [8, 0x0c, 1, 2, 3, 4, 0x01, 0], // a copy from nowhere
      [6, 0x0c, 1, 2, 3, 4, 0x01, 4], // a copy beyond the output
      [8, 0x0c, 1, 2, 3, 4, 0x0e, 4], // a copy cut off
      [9, 0x0c, 1, 2, 3, 4, 0x01, 4], // less than was said
      [8, 0xfc, 0xff, 0xff, 0xff, 0xff], // a literal of 4 GiB
    ]
    for (const bytes of cases)
      assert.throws(() => decompressBlock(Uint8Array.from(bytes), 100), CorruptSnappy, `${bytes}`)
    assert.throws(() => decompressBlock(compress(new Uint8Array(101)), 100), /101 bytes is above 100/)
  })

  it('ends with a named error or some bytes on random input', () => {
    const random = seededRandom(12)
    for (let i = 0; i < 20_000; i++) {
      try {
        decompressBlock(random.bytes(1 + random.below(30)), 100)
      } catch (error) {
        assert.ok(error instanceof CorruptSnappy, String(error))
      }
    }
  })
})

describe('crc32c', () => {
  it('has the check value and the examples of RFC 3720', () => {
    assert.equal(crc32c(new TextEncoder().encode('123456789')) >>> 0, 0xe3069283)
    assert.equal(crc32c(new Uint8Array(32)) >>> 0, 0x8a9136aa)
    assert.equal(crc32c(new Uint8Array(32).fill(255)) >>> 0, 0x62a8ab43)
  })
})

describe('decompressFrames', () => {
  const bytes = repetitive(7, 150_000)

  it('unpacks packed, plain, padding and skippable frames', () => {
    assert.deepEqual(decompressFrames(compressFrames(bytes)), bytes)
    const small = bytes.subarray(0, 1000)
    const padded = Uint8Array.from([...compressFrames(small, { plain: true }), 0xfe, 2, 0, 0, 9, 9, 0x80, 0, 0, 0])
    assert.deepEqual(decompressFrames(padded), small)
    assert.deepEqual(decompressFrames(compressFrames(new Uint8Array(0))), new Uint8Array(0))
  })

  it('refuses a flipped bit anywhere, unless the same bytes come out', () => {
    const original = bytes.slice(0, 300)
    const packed = compressFrames(original)
    let refused = 0
    for (let at = 0; at < packed.length; at++) {
      try {
        // A copy may come from another place that holds the same.
        assert.deepEqual(decompressFrames(packed.with(at, packed[at] ^ 1)), original)
      } catch (error) {
        assert.ok(error instanceof CorruptSnappy, String(error))
        refused++
      }
    }
    assert.ok(refused > packed.length * 0.95, `${refused} of ${packed.length}`)
  })

  it('says where a frame is cut off or of an unknown type', () => {
    const packed = compressFrames(bytes.subarray(0, 300))
    assert.throws(() => decompressFrames(packed.subarray(0, packed.length - 1)), /frame at byte 10 is cut off/)
    assert.throws(() => decompressFrames(packed.subarray(0, 12)), /frame at byte 10 is cut off/)
    assert.throws(() => decompressFrames(packed.with(10, 2)), /frame at byte 10 is of the unknown type 2/)
    assert.throws(() => decompressFrames(packed.subarray(1)), /stream identifier/)
  })
})
