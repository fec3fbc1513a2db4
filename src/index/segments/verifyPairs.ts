import { bucketBits, bucketOf, fingerprintOf } from './bucket.js'
import { markCoOccurring } from './buildPairs.js'
import { compareKeys, type HashedKey, openPairs } from './keyPairs.js'
import { CHUNK_SIZE } from './postings.js'
import type { RebuiltChunk } from './rebuiltKeys.js'

/** Compares a segment's key pairs with all keys of its chunks. A recorded pair that does not co-occur is not a fault,
 *  because merges are conservative. @returns the fault in words; undefined without a fault. */
export function findPairFault(blob: Uint8Array, chunks: readonly RebuiltChunk[]): string | undefined {
  let pairs: ReturnType<typeof openPairs>
  try {
    pairs = openPairs(blob)
  } catch (error) {
    if (error instanceof RangeError) return `the table of pairs cannot be decoded: ${error.message}`
    throw error
  }
  const keys = Array.from({ length: pairs.count }, (_, i) => pairs.key(i))
  if (keys.some((key, i) => i > 0 && compareKeys(keys[i - 1], key) >= 0)) return 'the table of pairs is not in order'
  const places = chunks.map((chunk) => keys.map((key) => findKey(chunk, key)))
  const strange = keys.findIndex((_, k) => places.every((ofChunk) => ofChunk[k] === -1))
  if (strange !== -1) return `the table of pairs has a key of no item: ${describe(keys[strange])}`
  for (const [c, chunk] of chunks.entries()) {
    const positions = places[c].map((place) => positionsOf(chunk, place))
    let missing: string | undefined
    const steps = markCoOccurring(positions, CHUNK_SIZE, (i, j) => {
      if (!pairs.coOccur(i, j)) missing ??= `${describe(keys[i])} and ${describe(keys[j])}`
    })
    while (!steps.next().done);
    if (missing) return `the table of pairs lacks ${missing}, which are together in chunk ${c} of the segment`
  }
  return undefined
}

/** Index of a key in a wholly rebuilt chunk; -1 if absent. */
function findKey({ fingerprints, bucketEnds }: RebuiltChunk, { high, low }: HashedKey): number {
  const bucket = bucketOf(high, bucketBits(0))
  const wanted = fingerprintOf(high, low, bucketBits(0))
  for (let key = bucket === 0 ? 0 : bucketEnds[bucket - 1]; key < bucketEnds[bucket]; key++) {
    if (fingerprints[key] === wanted) return key
  }
  return -1
}

function positionsOf({ ends, positions }: RebuiltChunk, key: number): Uint16Array {
  return key === -1 ? positions.subarray(0, 0) : positions.subarray(key === 0 ? 0 : ends[key - 1], ends[key])
}

function describe({ high, low }: HashedKey): string {
  return `key 0x${high.toString(16).padStart(8, '0')}:${low.toString(16).padStart(3, '0')}`
}
