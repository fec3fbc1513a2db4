import { type BucketEntry, bucketBits, decodeBucket, MAX_INLINE_BYTES } from './bucket.js'
import { KEY_BITS } from './keyHash.js'
import {
  CHUNK_BITS,
  CHUNK_LOGS,
  type ChunkPostings,
  decodeBigPostings,
  decodeGaps,
  encodeChunk,
  encodeGaps,
} from './postings.js'
import { chunksOf, MAX_LEVEL, MERGE_FACTOR, type Segment, type SegmentStore } from './segmentStore.js'
import { createBucketWriter } from './segmentWriter.js'

/** Eight neighbouring segments of one level on their way to become one of the next. */
export interface MergeJob {
  /** Merges the next bucket of the sources; false when all were and the result is in their place. To be called inside a
   *  transaction; a job that is not finished leaves a segment in state `building`. */
  step(): boolean
}

/** The first eight live segments that can be merged, undefined when there are none. */
export function findMergeable(segments: readonly Segment[]): Segment[] | undefined {
  for (let level = 0; level < MAX_LEVEL; level++) {
    const ofLevel = segments.filter((segment) => segment.level === level)
    for (const [i, first] of ofLevel.entries()) {
      if (first.firstChunk % chunksOf(level + 1) !== 0) continue
      const group = ofLevel.slice(i, i + MERGE_FACTOR)
      const complete =
        group.length === MERGE_FACTOR &&
        group.every((segment, k) => segment.firstChunk === first.firstChunk + k * chunksOf(level))
      if (complete) return group
    }
  }
  return undefined
}

/** A key of the result: its place, and what each source has of it, with the source's first chunk in the result. */
interface MergedKey {
  fingerprint: number
  parts: { entry: BucketEntry; source: Segment; chunkOffset: number }[]
}

/** A merge of `sources`, bucket by bucket. */
export function createMergeJob(store: SegmentStore, sources: readonly Segment[]): MergeJob {
  const level = sources[0].level
  const target = store.createSegment(level + 1, sources[0].firstChunk, 'building')
  const sourceBuckets = 2 ** bucketBits(level)
  let next = 0
  let ordinal = 0
  const finish = () => {
    for (const { id } of sources) store.setState(id, 'dropped')
    store.setState(target, 'live')
  }
  return {
    step: () => {
      ordinal = mergeBucket(store, { sources, target, bucket: next, ordinal })
      next++
      if (next < sourceBuckets) return true
      finish()
      return false
    },
  }
}

interface BucketMerge {
  sources: readonly Segment[]
  target: number
  bucket: number
  ordinal: number
}

/** Merges one bucket of the sources into the buckets of the target that it becomes; gives the next free ordinal. */
function mergeBucket(store: SegmentStore, { sources, target, bucket, ordinal }: BucketMerge): number {
  const { level } = sources[0]
  const keys = new Map<number, MergedKey>()
  for (const [i, source] of sources.entries()) {
    const blob = store.bucket(source.id, bucket)
    for (const entry of blob ? decodeBucket(blob) : []) {
      let key = keys.get(entry.fingerprint)
      if (!key) {
        key = { fingerprint: entry.fingerprint, parts: [] }
        keys.set(entry.fingerprint, key)
      }
      key.parts.push({ entry, source, chunkOffset: i * chunksOf(level) })
    }
  }
  const writer = createBucketWriter(store, target, ordinal)
  const sorted = Array.from(keys.values()).sort((a, b) => a.fingerprint - b.fingerprint)
  // The bits that the target's buckets have more come off the top of the fingerprint.
  const divisor = 2 ** (KEY_BITS - bucketBits(level + 1))
  for (const { fingerprint, parts } of sorted) {
    const part = Math.floor(fingerprint / divisor)
    const targetBucket = bucket * MERGE_FACTOR + part
    writeKey(store, writer, { bucket: targetBucket, fingerprint: fingerprint - part * divisor, parts })
  }
  writer.flush()
  return writer.ordinal()
}

function writeKey(
  store: SegmentStore,
  writer: ReturnType<typeof createBucketWriter>,
  { bucket, fingerprint, parts }: { bucket: number } & MergedKey,
): void {
  if (parts.every(({ entry }) => 'postings' in entry)) {
    const ids: number[] = []
    for (const { entry, chunkOffset } of parts) {
      if (!('postings' in entry)) continue
      decodeGaps(entry.postings, 0, entry.postings.length, chunkOffset * CHUNK_LOGS, ids)
    }
    const postings = encodeGaps(ids)
    if (postings.length <= MAX_INLINE_BYTES) writer.putInline(bucket, fingerprint, postings)
    else writer.putBig(bucket, fingerprint, ids.length, splitChunks(ids))
    return
  }
  let count = 0
  const chunks: ChunkPostings[] = []
  for (const { entry, source, chunkOffset } of parts) {
    if ('big' in entry) {
      count += entry.big.count
      for (const chunk of decodeBigPostings(store.bigPostings(source.id, entry.big.ordinal))) {
        chunks.push({ ...chunk, chunk: chunk.chunk + chunkOffset })
      }
    } else {
      const ids: number[] = []
      decodeGaps(entry.postings, 0, entry.postings.length, chunkOffset * CHUNK_LOGS, ids)
      count += ids.length
      chunks.push(...splitChunks(ids))
    }
  }
  writer.putBig(bucket, fingerprint, count, chunks)
}

/** Ids of a segment, ascending, as postings by chunk. */
function splitChunks(ids: readonly number[]): ChunkPostings[] {
  const chunks: ChunkPostings[] = []
  for (let from = 0; from < ids.length; ) {
    const chunk = ids[from] >> CHUNK_BITS
    const positions: number[] = []
    let to = from
    while (to < ids.length && ids[to] >> CHUNK_BITS === chunk) positions.push(ids[to++] & (CHUNK_LOGS - 1))
    chunks.push(encodeChunk(chunk, positions, 0, positions.length))
    from = to
  }
  return chunks
}
