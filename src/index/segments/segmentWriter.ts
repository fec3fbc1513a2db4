import type { SegmentStore } from '../../store/index/segmentStore.js'
import { BIG_BYTES, BIG_LENGTH, bucketBits, bucketOf, fingerprintOf, MAX_INLINE_BYTES } from './bucket.js'
import { type FrequentKey, leastFrequent, pairsOfChunk } from './buildPairs.js'
import type { ChunkBuilder, KeyVisitor } from './chunkBuilder.js'
import { encodePairs } from './keyPairs.js'
import { type ChunkPostings, encodeBigPostings, encodeChunk } from './postings.js'

/** Writes the buckets of a segment, keys ascending. An entry is begun, filled with gaps or gap bytes, and ended; or it
 *  is written as big postings. */
export interface BucketWriter {
  /** Begins the entry of a key. */
  begin(bucket: number, fingerprint: number): void
  /** Appends a gap in its varint. */
  appendGap(gap: number): void
  /** Appends bytes [from, to) of varints. */
  appendBytes(bytes: Uint8Array, from: number, to: number): void
  /** Ends the entry. False if its postings do not fit into the bucket: it is then dropped, to be written as big
   *  postings. */
  end(): boolean
  /** Writes a key with big postings. */
  putBig(bucket: number, fingerprint: number, count: number, chunks: readonly ChunkPostings[]): void
  /** Writes the last bucket. */
  flush(): void
  /** The ordinal of the next big postings. */
  ordinal(): number
}

/** Creates a writer for a segment that already has `firstOrdinal` big postings. Buckets are built in place, without an
 *  object or copy per key. */
export function createBucketWriter(store: SegmentStore, segment: number, firstOrdinal = 0): BucketWriter {
  let fingerprints = new Uint32Array(1024)
  let lengths = new Uint8Array(1024)
  let payload = Buffer.alloc(8192)
  let current = -1
  let keys = 0
  let used = 0
  let entryStart = 0
  let ordinal = firstOrdinal
  const flush = () => {
    if (keys > 0) {
      const blob = Buffer.allocUnsafe(2 + keys * 5 + used)
      blob.writeUInt16LE(keys, 0)
      for (let i = 0; i < keys; i++) blob.writeUInt32LE(fingerprints[i], 2 + i * 4)
      blob.set(lengths.subarray(0, keys), 2 + keys * 4)
      payload.copy(blob, 2 + keys * 5, 0, used)
      store.putBucket(segment, current, blob)
    }
    keys = 0
    used = 0
  }
  const reserve = (bytes: number) => {
    if (used + bytes <= payload.length) return
    const larger = Buffer.alloc((used + bytes) * 2)
    payload.copy(larger, 0, 0, used)
    payload = larger
  }
  const begin = (bucket: number, fingerprint: number) => {
    if (bucket !== current) {
      flush()
      current = bucket
    }
    if (keys === lengths.length) {
      fingerprints = copyTo(new Uint32Array(keys * 2), fingerprints)
      lengths = copyTo(new Uint8Array(keys * 2), lengths)
    }
    fingerprints[keys] = fingerprint
    entryStart = used
  }
  return {
    begin,
    appendGap: (gap) => {
      reserve(5)
      let rest = gap
      while (rest > 127) {
        payload[used++] = (rest & 127) | 128
        rest >>>= 7
      }
      payload[used++] = rest
    },
    appendBytes: (bytes, from, to) => {
      reserve(to - from)
      for (let i = from; i < to; i++) payload[used++] = bytes[i]
    },
    end: () => {
      const length = used - entryStart
      if (length > MAX_INLINE_BYTES) {
        used = entryStart
        return false
      }
      lengths[keys++] = length
      return true
    },
    putBig: (bucket, fingerprint, count, chunks) => {
      store.putBigPostings(segment, ordinal, encodeBigPostings(chunks))
      begin(bucket, fingerprint)
      reserve(BIG_BYTES)
      payload.writeUInt32LE(ordinal, used)
      payload.writeUInt32LE(count, used + 4)
      used += BIG_BYTES
      lengths[keys++] = BIG_LENGTH
      ordinal++
    },
    flush,
    ordinal: () => ordinal,
  }
}

function copyTo<T extends Uint8Array | Uint32Array>(larger: T, from: T): T {
  larger.set(from)
  return larger
}

/** A full chunk that is being sealed. */
export interface SealJob {
  /** Writes the next buckets, in about 1 ms. False once all are written and the segment is live. Call it inside a
   *  transaction; an unfinished job leaves a segment in state `building`. */
  step(): boolean
}

const BUCKETS_PER_STEP = 16

/** Seals the chunk of the builder, which must not change until the job is done. */
export function createSealJob(store: SegmentStore, chunk: number, builder: ChunkBuilder): SealJob {
  const segment = store.createSegment(0, chunk, 'building')
  const writer = createBucketWriter(store, segment)
  const bits = bucketBits(0)
  const least = leastFrequent(builder.count)
  const frequent: FrequentKey[] = []
  const writeKey: KeyVisitor = (high, low, positions, from, to) => {
    if (store.hasPairs && to - from >= least) frequent.push({ high, low, positions: positions.slice(from, to) })
    const bucket = bucketOf(high, bits)
    const fingerprint = fingerprintOf(high, low, bits)
    // A posting takes at least one byte.
    if (to - from <= MAX_INLINE_BYTES) {
      writer.begin(bucket, fingerprint)
      for (let i = from, last = 0; i < to; last = positions[i++]) writer.appendGap(positions[i] - last)
      if (writer.end()) return
    }
    writer.putBig(bucket, fingerprint, to - from, [encodeChunk(0, positions, from, to)])
  }
  function* seal(): Generator<void, void> {
    for (let bucket = 0; bucket < 2 ** bits; bucket++) {
      builder.visitBucket(bucket, writeKey)
      if (bucket % BUCKETS_PER_STEP !== BUCKETS_PER_STEP - 1) continue
      writer.flush()
      yield
    }
    if (store.hasPairs) store.putPairs(segment, encodePairs(yield* pairsOfChunk(frequent, builder.count)))
    store.setState(segment, 'live')
  }
  const steps = seal()
  return { step: () => !steps.next().done }
}
