import type { Log } from '../chain/eth/types.js'
import { leadingZeros } from '../lib/bytes.js'
import { bucketBits, bucketOf, fingerprintOf } from './bucket.js'
import { KEY_BITS, type KeyHasher } from './keyHash.js'
import { CHUNK_LOGS } from './postings.js'

/** Position of the keys that say how many topics a log has at least: their value is that number. */
export const PRESENCE_POSITION = 5

/** Told of each key: the hash, the positions [from, to) of its logs in `positions`, ascending. */
export type KeyVisitor = (high: number, low: number, positions: Uint16Array, from: number, to: number) => void

/** The keys of one chunk's logs as they are added. Memory: 8 MB, and 8 bytes a key beyond what that holds. */
export interface ChunkBuilder {
  /** Logs added so far. */
  readonly count: number
  /** Takes the address, the topics, and how many topics there are. */
  add(log: Pick<Log, 'address' | 'topics'>): void
  /** Calls `visit` for each key in a bucket of level 0, in the order of its hash. */
  visitBucket(bucket: number, visit: KeyVisitor): void
  /** Calls `visit` for each key in the order of its hash. */
  visitSorted(visit: KeyVisitor): void
  clear(): void
}

const BITS = bucketBits(0)
const FIRST_CAPACITY = 1024
// An entry is a key and a position in one number below 2^48, so that sorting numbers sorts both.
const POSITIONS = CHUNK_LOGS
const LOW_VALUES = 2 ** (KEY_BITS - 32)
const BUCKETS = 2 ** BITS

/** A builder for chunks, to be used again and again. Keys lie by bucket from the first: sorting a bucket is cheap, and
 *  a chunk can be sealed in slices. */
export function createChunkBuilder(hasher: KeyHasher): ChunkBuilder {
  const buckets = Array.from({ length: BUCKETS }, () => new Float64Array(FIRST_CAPACITY))
  const sizes = new Uint32Array(BUCKETS)
  const positions = new Uint16Array(CHUNK_LOGS)
  const presence = [1, 2, 3, 4].map((topics) => {
    hasher.hashId(PRESENCE_POSITION, topics)
    return { high: hasher.high, low: hasher.low }
  })
  let count = 0
  const push = (high: number, low: number) => {
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
    add: ({ address, topics }) => {
      hasher.hashBytes(0, address)
      push(hasher.high, hasher.low)
      for (let i = 0; i < topics.length; i++) {
        hasher.hashBytes(i + 1, topics[i], leadingZeros(topics[i]))
        push(hasher.high, hasher.low)
        push(presence[i].high, presence[i].low)
      }
      count++
    },
    visitBucket,
    visitSorted: (visit) => {
      for (let bucket = 0; bucket < BUCKETS; bucket++) visitBucket(bucket, visit)
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
