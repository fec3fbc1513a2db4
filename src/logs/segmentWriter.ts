import { type BucketEntry, bucketBits, bucketOf, encodeBucket, fingerprintOf, MAX_INLINE_BYTES } from './bucket.js'
import type { ChunkBuilder, KeyVisitor } from './chunkBuilder.js'
import { type ChunkPostings, encodeBigPostings, encodeChunk, encodeGaps } from './postings.js'
import type { SegmentStore } from './segmentStore.js'

/** Writes the buckets of one segment in ascending order. */
export interface BucketWriter {
  /** A key with postings that fit in the bucket. */
  putInline(bucket: number, fingerprint: number, postings: Uint8Array): void
  /** A key with more. */
  putBig(bucket: number, fingerprint: number, count: number, chunks: readonly ChunkPostings[]): void
  /** Writes the last bucket begun. */
  flush(): void
}

/** A writer for a segment; `firstOrdinal` is the number of large postings that it has already. */
export function createBucketWriter(
  store: SegmentStore,
  segment: number,
  firstOrdinal = 0,
): BucketWriter & { ordinal(): number } {
  let current = -1
  let entries: BucketEntry[] = []
  let ordinal = firstOrdinal
  const flush = () => {
    if (entries.length > 0) store.putBucket(segment, current, encodeBucket(entries))
    entries = []
  }
  const add = (bucket: number, entry: BucketEntry) => {
    if (bucket !== current) {
      flush()
      current = bucket
    }
    entries.push(entry)
  }
  return {
    putInline: (bucket, fingerprint, postings) => add(bucket, { fingerprint, postings }),
    putBig: (bucket, fingerprint, count, chunks) => {
      store.putBigPostings(segment, ordinal, encodeBigPostings(chunks))
      add(bucket, { fingerprint, big: { ordinal, count } })
      ordinal++
    },
    flush,
    ordinal: () => ordinal,
  }
}

/** A full chunk on its way to become a segment. */
export interface SealJob {
  /** Writes the next buckets, in about 1 ms; false when all were and the segment is live. To be called inside a
   *  transaction; a job that is not finished leaves a segment in state `building`. */
  step(): boolean
}

const BUCKETS_PER_STEP = 16

/** The sealing of the chunk whose keys the builder holds, which must stay as it is until the job is done. */
export function createSealJob(store: SegmentStore, chunk: number, builder: ChunkBuilder): SealJob {
  const segment = store.createSegment(0, chunk, 'building')
  const writer = createBucketWriter(store, segment)
  const bits = bucketBits(0)
  let next = 0
  const writeKey: KeyVisitor = (high, low, positions, from, to) => {
    const bucket = bucketOf(high, bits)
    const fingerprint = fingerprintOf(high, low, bits)
    const inline = to - from <= MAX_INLINE_BYTES ? encodeGaps(positions, from, to) : undefined
    if (inline && inline.length <= MAX_INLINE_BYTES) writer.putInline(bucket, fingerprint, inline)
    else writer.putBig(bucket, fingerprint, to - from, [encodeChunk(0, positions, from, to)])
  }
  return {
    step: () => {
      for (const end = next + BUCKETS_PER_STEP; next < end; next++) builder.visitBucket(next, writeKey)
      writer.flush()
      if (next < 2 ** bits) return true
      store.setState(segment, 'live')
      return false
    },
  }
}
