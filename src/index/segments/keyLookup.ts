import type { Segment, SegmentStore } from '../../store/index/segmentStore.js'
import { type BucketEntry, bucketBits, bucketOf, findInBucket, fingerprintOf } from './bucket.js'
import type { HashedKey } from './keyPairs.js'
import { countGaps } from './postings.js'

/** Creates a function that finds the entry of a key in a segment; undefined when it lacks the key. Keys in the order of
 *  their hashes share the reads of their buckets. */
export function createKeyLookup(
  store: Pick<SegmentStore, 'bucket'>,
  { id, level }: Pick<Segment, 'id' | 'level'>,
): (key: HashedKey) => BucketEntry | undefined {
  const bits = bucketBits(level)
  let bucket = -1
  let blob: Uint8Array | undefined
  return ({ high, low }) => {
    const wanted = bucketOf(high, bits)
    if (wanted !== bucket) {
      bucket = wanted
      blob = store.bucket(id, bucket)
    }
    return blob && findInBucket(blob, fingerprintOf(high, low, bits))
  }
}

/** Counts the items of the segment that have the key, without reading large postings. */
export function countItems(store: Pick<SegmentStore, 'bucket'>, segment: Segment, key: HashedKey): number {
  const entry = createKeyLookup(store, segment)(key)
  if (!entry) return 0
  return 'big' in entry ? entry.big.count : countGaps(entry.postings)
}
