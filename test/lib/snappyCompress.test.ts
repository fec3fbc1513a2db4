import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { uncompress } from 'snappyjs'
import { decompressFrames } from '../../src/lib/snappy.js'
import { compressFrames } from '../../src/lib/snappyCompress.js'
import { seededRandom } from '../support/random.js'

/** Bytes of all degrees of repetition: runs, copies of earlier parts, noise. */
function mixedBytes(length: number, seed: number): Uint8Array {
  const random = seededRandom(seed)
  const out: number[] = []
  while (out.length < length) {
    const kind = random.below(3)
    const count = 1 + random.below(kind === 0 ? 400 : 80)
    if (kind === 0) out.push(...Array(count).fill(random.below(256)))
    else if (kind === 1 && out.length > 10) {
      const from = random.below(out.length)
      for (let i = 0; i < count; i++) out.push(out[from + i])
    } else out.push(...random.bytes(count))
  }
  return Uint8Array.from(out.slice(0, length))
}

describe('compressFrames', () => {
  it('is undone by decompressFrames and by another decoder', () => {
    const lengths = [0, 1, 15, 16, 17, 59, 60, 61, 62, 255, 256, 257, 4000, 65_535, 65_536, 65_537, 200_000]
    for (const [seed, length] of lengths.entries()) {
      const bytes = mixedBytes(length, seed)
      const packed = compressFrames(bytes)
      assert.deepEqual(decompressFrames(packed), bytes, `${length} bytes`)
      if (length > 0 && length <= 65_536 && packed[10] === 0) {
        assert.deepEqual(Uint8Array.from(uncompress(packed.slice(18))), bytes)
      }
      if (length >= 4000) assert.ok(packed.length < length * 0.8, `${packed.length} of ${length} bytes`)
    }
  })

  it('stores noise as it is', () => {
    const noise = seededRandom(1).bytes(100_000)
    const packed = compressFrames(noise)
    assert.equal(packed.length, 10 + 100_000 + 2 * 8)
    assert.deepEqual(decompressFrames(packed), noise)
  })
})
