import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BucketEntry,
  bucketBits,
  bucketOf,
  decodeBucket,
  encodeBucket,
  findInBucket,
  fingerprintOf,
} from '../../../src/index/segments/bucket.js'
import { createKeyHasher, KEY_BITS } from '../../../src/index/segments/keyHash.js'
import {
  addChunk,
  appendGaps,
  appendShared,
  CHUNK_SIZE,
  ChunkCursor,
  countGaps,
  createChunkSet,
  decodeBigPostings,
  decodeGaps,
  encodeBigPostings,
  encodeChunk,
  encodeGaps,
  setToBitmap,
} from '../../../src/index/segments/postings.js'
import { seededRandom } from '../../support/random.js'

/** Ascending numbers below `limit`, about `count` of them. */
function ascending(random: ReturnType<typeof seededRandom>, count: number, limit: number): number[] {
  return Array.from(new Set(Array.from({ length: count }, () => random.below(limit)))).sort((a, b) => a - b)
}

test('gaps decode to the ids that were encoded', () => {
  const random = seededRandom(1)
  for (let i = 0; i < 300; i++) {
    const ids = ascending(random, random.below(200), 2 ** (1 + random.below(22)))
    const out: number[] = []
    const bytes = encodeGaps(ids)
    decodeGaps(bytes, 0, bytes.length, 1_000, out)
    assert.deepEqual(
      out,
      ids.map((id) => id + 1_000),
    )
    assert.equal(countGaps(bytes), ids.length)
    const list = { values: new Uint32Array(ids.length + 1), count: 1 }
    appendGaps({ bytes: Buffer.concat([Buffer.of(200), bytes]), start: 1, end: bytes.length + 1 }, 1_000, list)
    assert.deepEqual(Array.from(list.values), [0, ...out])
  }
})

test('chunks decode to the positions that were encoded, whichever form they took', () => {
  const random = seededRandom(2)
  const kinds = new Set<number>()
  for (const count of [1, 5, 300, 5_000, 12_000, 40_000, 65_536]) {
    const positions = count === 65_536 ? Array.from({ length: count }, (_, i) => i) : ascending(random, count, 65_536)
    const blob = encodeBigPostings([encodeChunk(3, positions, 0, positions.length), encodeChunk(9, [7], 0, 1)])
    const [first, second] = decodeBigPostings(blob)
    kinds.add(first.kind)
    assert.deepEqual([first.chunk, second.chunk], [3, 9])
    const set = createChunkSet()
    const cursor = new ChunkCursor(blob)
    addChunk(cursor, set)
    const read = (from: number, to: number) => {
      const list = { values: new Uint32Array(positions.length), count: 0 }
      appendShared([set, set], { chunk: 3, from, to }, list)
      return Array.from(list.values.subarray(0, list.count), (position) => position - 3 * CHUNK_SIZE)
    }
    assert.deepEqual(read(0, CHUNK_SIZE), positions)
    assert.deepEqual(
      read(63, 4_097),
      positions.filter((position) => position >= 32 && position < 4_128),
    )
    if (!cursor.isBitmap) continue
    set.words.fill(-1)
    setToBitmap(set, cursor)
    assert.deepEqual(read(0, CHUNK_SIZE), positions)
  }
  assert.equal(kinds.size, 2)
})

test('a cursor goes through the chunks that decoding gives', () => {
  const random = seededRandom(6)
  for (let i = 0; i < 100; i++) {
    const chunks = ascending(random, 1 + random.below(30), 64).map((chunk) => {
      const positions = ascending(random, 1 + random.below(random.below(10) === 0 ? 20_000 : 200), CHUNK_SIZE)
      return encodeChunk(chunk, positions, 0, positions.length)
    })
    const cursor = new ChunkCursor(Buffer.concat([Buffer.of(1), encodeBigPostings(chunks)]).subarray(1))
    for (let wanted = 0; wanted < 70; wanted += random.below(4)) {
      cursor.skipTo(wanted)
      const expected = chunks.find(({ chunk }) => chunk >= wanted)
      if (!expected) {
        assert.ok(cursor.chunk >= 64)
        continue
      }
      assert.deepEqual([cursor.chunk, cursor.isBitmap], [expected.chunk, expected.kind === 1])
      assert.deepEqual(Array.from(cursor.bytes.subarray(cursor.start, cursor.end)), Array.from(expected.payload))
    }
  }
})

test('a bucket gives back its entries, and nothing for other fingerprints', () => {
  const random = seededRandom(3)
  for (let i = 0; i < 50; i++) {
    const fingerprints = ascending(random, random.below(300), 2 ** 32)
    const entries = fingerprints.map((fingerprint): BucketEntry => {
      if (random.below(6) === 0)
        return { fingerprint, big: { ordinal: random.below(2 ** 20), count: random.below(2 ** 22) } }
      return { fingerprint, postings: Buffer.from(random.bytes(random.below(255))) }
    })
    const blob = encodeBucket(entries)
    assert.deepEqual(decodeBucket(blob), entries)
    for (const entry of entries) assert.deepEqual(findInBucket(blob, entry.fingerprint), entry)
    const held = new Set(fingerprints)
    for (let miss = 0; miss < 20; miss++) {
      const fingerprint = random.below(2 ** 32)
      if (!held.has(fingerprint)) assert.equal(findInBucket(blob, fingerprint), undefined)
    }
  }
})

test('hashes depend on the secret, the position and every byte, and fill all their bits', () => {
  const random = seededRandom(4)
  const hasher = createKeyHasher([1, 2])
  const other = createKeyHasher([1, 3])
  const seen = new Set<number>()
  let anyHigh = 0
  let anyLow = 0
  for (let i = 0; i < 20_000; i++) {
    const value = random.bytes(random.below(33))
    hasher.hashBytes(1, value)
    const { high, low } = hasher
    anyHigh |= high
    anyLow |= low
    const key = high * 2 ** (KEY_BITS - 32) + low
    assert.ok(Number.isSafeInteger(key) && low < 2 ** (KEY_BITS - 32))
    seen.add(key)
    hasher.hashBytes(2, value)
    assert.notEqual(hasher.high, high)
    other.hashBytes(1, value)
    assert.notEqual(other.high, high)
  }
  assert.equal(anyHigh >>> 0, 0xffffffff)
  assert.equal(anyLow, 2 ** (KEY_BITS - 32) - 1)
  // Values of no or one byte repeat; the others do not.
  assert.ok(seen.size > 18_500, `${seen.size}`)
})

/** HalfSipHash-2-4 word by word as its paper writes it. */
function slowHash([k0, k1]: [number, number], position: number, value: Uint8Array): bigint {
  const message = Buffer.concat([Buffer.from([position, 0, 0, 0]), value])
  const padded = Buffer.alloc((message.length >> 2) * 4 + 4)
  padded.set(message)
  padded[padded.length - 1] = value.length
  const v = [k0, k1 ^ 0xee, 0x6c796765 ^ k0, 0x74656462 ^ k1].map((word) => word >>> 0)
  const rotate = (word: number, bits: number) => ((word << bits) | (word >>> (32 - bits))) >>> 0
  const add = (i: number, k: number) => {
    v[i] = (v[i] + v[k]) >>> 0
  }
  const mix = (i: number, k: number, bits: number) => {
    v[i] = (rotate(v[i], bits) ^ v[k]) >>> 0
  }
  const rounds = (count: number) => {
    for (let i = 0; i < count; i++) {
      add(0, 1)
      mix(1, 0, 5)
      v[0] = rotate(v[0], 16)
      add(2, 3)
      mix(3, 2, 8)
      add(0, 3)
      mix(3, 0, 7)
      add(2, 1)
      mix(1, 2, 13)
      v[2] = rotate(v[2], 16)
    }
  }
  for (let at = 0; at < padded.length; at += 4) {
    const word = padded.readUInt32LE(at)
    v[3] = (v[3] ^ word) >>> 0
    rounds(2)
    v[0] = (v[0] ^ word) >>> 0
  }
  v[2] = (v[2] ^ 0xee) >>> 0
  rounds(4)
  const high = (v[1] ^ v[3]) >>> 0
  v[1] = (v[1] ^ 0xdd) >>> 0
  rounds(4)
  return (BigInt(high) << 32n) | BigInt((v[1] ^ v[3]) >>> 0)
}

test('hashes are HalfSipHash-2-4 of the position and the value', () => {
  const random = seededRandom(6)
  for (let i = 0; i < 2_000; i++) {
    const secret: [number, number] = [random.below(2 ** 32), random.below(2 ** 32)]
    const hasher = createKeyHasher(secret)
    const value = random.bytes(random.below(33))
    const start = random.below(value.length + 1)
    hasher.hashBytes(i % 5, value, start)
    const expected = slowHash(secret, i % 5, value.subarray(start)) >> BigInt(64 - KEY_BITS)
    assert.equal(BigInt(hasher.high) * 2n ** BigInt(KEY_BITS - 32) + BigInt(hasher.low), expected)
  }
})

test('bucket and fingerprint together are the whole hash at every level', () => {
  const random = seededRandom(5)
  for (let level = 0; level <= 2; level++) {
    const bits = bucketBits(level)
    for (let i = 0; i < 500; i++) {
      const high = random.below(2 ** 32)
      const low = random.below(2 ** (KEY_BITS - 32))
      const whole = bucketOf(high, bits) * 2 ** (KEY_BITS - bits) + fingerprintOf(high, low, bits)
      assert.equal(whole, high * 2 ** (KEY_BITS - 32) + low)
    }
  }
})
