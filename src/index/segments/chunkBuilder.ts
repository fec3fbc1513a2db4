import { bucketBits, bucketOf, fingerprintOf } from './bucket.js'
import { KEY_BITS } from './keyHash.js'
import { CHUNK_SIZE } from './postings.js'

/** Called for each key with its hash and the positions [from, to) of its items in `positions`, ascending. */
export type KeyVisitor = (high: number, low: number, positions: Uint16Array, from: number, to: number) => void

/** Collects the keys of one chunk. Memory: 1 MB, and up to 16 bytes per key beyond what that holds. */
export interface ChunkBuilder {
  /** Items added so far. */
  readonly count: number
  /** Adds a key of the current item. */
  addKey(high: number, low: number): void
  /** Ends the current item. */
  endItem(): void
  /** Calls `visit` for each key in a bucket of level 0, in hash order. */
  visitBucket(bucket: number, visit: KeyVisitor): void
  /** Calls `visit` for each key, in hash order. */
  visitSorted(visit: KeyVisitor): void
  /** Drops all items but the first `count`. Takes about 1 ms for a full chunk. */
  truncate(count: number): void
  clear(): void
}

const BITS = bucketBits(0)
const FIRST_CAPACITY = 128
// An entry packs key and position into one number below 2^48, so that sorting numbers sorts both.
const POSITIONS = CHUNK_SIZE
const LOW_VALUES = 2 ** (KEY_BITS - 32)
const BUCKETS = 2 ** BITS

/** Creates a reusable builder. Keys are stored by bucket: sorting a bucket is cheap, and a chunk can be sealed in
 *  slices. */
export function createChunkBuilder(): ChunkBuilder {
  const buckets = Array.from({ length: BUCKETS }, () => new Float64Array(FIRST_CAPACITY))
  const sizes = new Uint32Array(BUCKETS)
  const positions = new Uint16Array(CHUNK_SIZE)
  let count = 0
  const addKey = (high: number, low: number) => {
    const bucket = bucketOf(high, BITS)
    const size = sizes[bucket]
    if (size === buckets[bucket].length) buckets[bucket] = grow(buckets[bucket])
    buckets[bucket][size] = fingerprintOf(high, low, BITS) * POSITIONS + count
    sizes[bucket] = size + 1
  }
  const visitBucket = (bucket: number, visit: KeyVisitor) => {
    const entries = buckets[bucket].subarray(0, sizes[bucket]).sort()
    for (let from = 0; from < entries.length; ) {
      const fingerprint = Math.floor(entries[from] / POSITIONS)
      const base = fingerprint * POSITIONS
      let held = 0
      while (from < entries.length && entries[from] - base < POSITIONS) positions[held++] = entries[from++] - base
      const high = ((bucket << (32 - BITS)) | Math.floor(fingerprint / LOW_VALUES)) >>> 0
      visit(high, fingerprint & (LOW_VALUES - 1), positions, 0, held)
    }
  }
  return {
    get count() {
      return count
    },
    addKey,
    endItem: () => {
      count++
    },
    visitBucket,
    visitSorted: (visit) => {
      for (let bucket = 0; bucket < BUCKETS; bucket++) visitBucket(bucket, visit)
    },
    truncate: (kept) => {
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const entries = buckets[bucket]
        let size = 0
        for (let i = 0; i < sizes[bucket]; i++) {
          const position = entries[i] - Math.floor(entries[i] / POSITIONS) * POSITIONS
          if (position < kept) entries[size++] = entries[i]
        }
        sizes[bucket] = size
      }
      count = Math.min(count, kept)
    },
    clear: () => {
      sizes.fill(0)
      count = 0
    },
  }
}

function grow(entries: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(entries.length * 2)
  larger.set(entries)
  return larger
}
