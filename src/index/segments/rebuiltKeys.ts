import { CairnError } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import { chunksOf, MERGE_FACTOR, type Segment } from '../../store/index/segmentStore.js'
import { bucketBits, fingerprintOf } from './bucket.js'
import { type ChunkBuilder, createChunkBuilder } from './chunkBuilder.js'
import type { IndexKind } from './indexKind.js'
import type { IndexSettings } from './indexSettings.js'
import { createKeyHasher } from './keyHash.js'
import { CHUNK_SIZE } from './postings.js'

/** Rows of indexed items are missing. */
export class MissingRows extends CairnError {}

/** Keys of one chunk in a part of the buckets, sorted by hash. */
export interface RebuiltChunk {
  /** As in a segment of level 0. */
  fingerprints: Uint32Array
  /** By bucket of level 0 within the part: end of its keys. */
  bucketEnds: Uint32Array
  /** By key: end of its positions. */
  ends: Uint32Array
  positions: Uint16Array
}

/** One of several equal parts of the buckets. */
interface BucketPart {
  part: number
  parts: number
}

/** Recomputes the keys of a segment's rows, by chunk, in one part of the buckets. @throws MissingRows */
export function createKeyRebuilder(
  db: Database,
  kind: IndexKind<unknown>,
  { secret, chunkBits }: IndexSettings,
): (segment: Segment, part: BucketPart, onItems: (items: number) => void) => RebuiltChunk[] {
  const stored = kind.openStored(db)
  const keys = kind.createKeys(createKeyHasher(secret))
  const builder = createChunkBuilder()
  const chunkSize = 2 ** chunkBits
  return (segment, part, onItems) =>
    Array.from({ length: chunksOf(segment.level) }, (_, i) => {
      const from = (segment.firstChunk + i) * chunkSize
      builder.clear()
      for (const item of stored.read(from, from + chunkSize)) keys.add(item, builder)
      if (builder.count !== chunkSize) {
        throw new MissingRows(`${builder.count} of the ${chunkSize} rows of ${kind.items} from ${from} on can be read`)
      }
      onItems((i + 1) * chunkSize)
      return takePart(builder, part)
    })
}

function takePart(builder: ChunkBuilder, { part, parts }: BucketPart): RebuiltChunk {
  const buckets = 2 ** bucketBits(0) / parts
  const bucketEnds = new Uint32Array(buckets)
  const fingerprints: number[] = []
  const ends: number[] = []
  const positions: number[] = []
  for (let i = 0; i < buckets; i++) {
    builder.visitBucket(part * buckets + i, (high, low, held, from, to) => {
      fingerprints.push(fingerprintOf(high, low, bucketBits(0)))
      for (let at = from; at < to; at++) positions.push(held[at])
      ends.push(positions.length)
    })
    bucketEnds[i] = ends.length
  }
  return {
    fingerprints: Uint32Array.from(fingerprints),
    bucketEnds,
    ends: Uint32Array.from(ends),
    positions: Uint16Array.from(positions),
  }
}

/** Expected content of the buckets on this level that replace one bucket of level 0, in order: keys with their
 *  ascending positions in the segment. `index` counts level-0 buckets within the part. */
export function takeBuckets(chunks: readonly RebuiltChunk[], index: number, level: number): Map<number, number[]>[] {
  // A level-0 bucket is divided by the top bits of its fingerprints.
  const divisions = MERGE_FACTOR ** level
  const width = 2 ** 32 / divisions
  const buckets = Array.from({ length: divisions }, () => new Map<number, number[]>())
  for (const [i, { fingerprints, bucketEnds, ends, positions }] of chunks.entries()) {
    for (let key = index === 0 ? 0 : bucketEnds[index - 1]; key < bucketEnds[index]; key++) {
      const keys = buckets[Math.floor(fingerprints[key] / width)]
      const fingerprint = fingerprints[key] % width
      let ids = keys.get(fingerprint)
      if (!ids) {
        ids = []
        keys.set(fingerprint, ids)
      }
      for (let at = key === 0 ? 0 : ends[key - 1]; at < ends[key]; at++) ids.push(i * CHUNK_SIZE + positions[at])
    }
  }
  return buckets
}
