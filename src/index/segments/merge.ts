import { chunksOf, MERGE_FACTOR, type Segment, type SegmentStore } from '../../store/index/segmentStore.js'
import { BIG_BYTES, BIG_LENGTH, bucketBits } from './bucket.js'
import { mergePairs } from './buildPairs.js'
import { KEY_BITS } from './keyHash.js'
import { CHUNK_BITS, CHUNK_SIZE, type ChunkPostings, decodeBigPostings, decodeGaps, encodeChunk } from './postings.js'
import { type BucketWriter, createBucketWriter } from './segmentWriter.js'

/** A running merge of eight neighbouring segments into one of the next level. */
export interface MergeJob {
  /** Merges the next bucket, then the key pairs. False once the result has replaced the sources. Call it inside a
   *  transaction; an unfinished job leaves a segment in state `building`. */
  step(): boolean
}

/** The first eight live segments below `maxLevel` that can be merged; undefined if there are fewer. */
export function findMergeable(segments: readonly Segment[], maxLevel: number): Segment[] | undefined {
  for (let level = 0; level < maxLevel; level++) {
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

/** Creates a merge of `sources`, bucket by bucket. */
export function createMergeJob(store: SegmentStore, sources: readonly Segment[]): MergeJob {
  const { level, firstChunk } = sources[0]
  const id = store.createSegment(level + 1, firstChunk, 'building')
  function* merge(): Generator<void, void> {
    let ordinal = 0
    for (let bucket = 0; bucket < 2 ** bucketBits(level); bucket++) {
      ordinal = mergeBucket(store, { sources, target: id, bucket, ordinal })
      yield
    }
    if (store.hasPairs) {
      yield* mergePairs(store, { sources, target: { id, level: level + 1, firstChunk, state: 'building' } })
    }
    for (const source of sources) store.setState(source.id, 'dropped')
    store.setState(id, 'live')
  }
  const steps = merge()
  return { step: () => !steps.next().done }
}

interface BucketMerge {
  sources: readonly Segment[]
  target: number
  bucket: number
  ordinal: number
}

/** Merges one bucket of the sources into the corresponding buckets of the target; returns the next free ordinal. */
function mergeBucket(store: SegmentStore, { sources, target, bucket, ordinal }: BucketMerge): number {
  const { level } = sources[0]
  const cursors: BucketCursor[] = []
  for (const [i, source] of sources.entries()) {
    const blob = store.bucket(source.id, bucket)
    if (blob) cursors.push(openCursor(blob, source, i * chunksOf(level)))
  }
  const writer = createBucketWriter(store, target, ordinal)
  // The additional bucket bits of the target are the top bits of the fingerprint.
  const divisor = 2 ** (KEY_BITS - bucketBits(level + 1))
  const parts: BucketCursor[] = []
  for (;;) {
    let least = Number.POSITIVE_INFINITY
    for (const { fingerprint } of cursors) if (fingerprint < least) least = fingerprint
    if (least === Number.POSITIVE_INFINITY) break
    parts.length = 0
    let anyBig = false
    for (const cursor of cursors) {
      if (cursor.fingerprint !== least) continue
      parts.push(cursor)
      if (cursor.length === BIG_LENGTH) anyBig = true
    }
    const part = Math.floor(least / divisor)
    const key = { bucket: bucket * MERGE_FACTOR + part, fingerprint: least - part * divisor }
    if (anyBig || !joinInline(writer, key, parts)) joinBig(store, writer, key, parts)
    for (const cursor of parts) advance(cursor)
  }
  writer.flush()
  return writer.ordinal()
}

/** Cursor of a merge in one bucket of a source. */
interface BucketCursor {
  readonly source: Segment
  /** The source's first chunk within the target. */
  readonly chunkOffset: number
  readonly view: Buffer
  readonly keys: number
  /** Index of the current key; its fingerprint, infinite behind the last one. */
  index: number
  fingerprint: number
  /** Length byte and location of its postings. */
  length: number
  at: number
}

function openCursor(blob: Uint8Array, source: Segment, chunkOffset: number): BucketCursor {
  const view = Buffer.from(blob.buffer, blob.byteOffset, blob.length)
  const keys = view.readUInt16LE(0)
  const cursor = { source, chunkOffset, view, keys, index: 0, fingerprint: 0, length: 0, at: 2 + keys * 5 }
  readKey(cursor)
  return cursor
}

function readKey(cursor: BucketCursor): void {
  const { view, keys, index } = cursor
  cursor.fingerprint = index < keys ? view.readUInt32LE(2 + index * 4) : Number.POSITIVE_INFINITY
  cursor.length = index < keys ? view[2 + keys * 4 + index] : 0
}

function advance(cursor: BucketCursor): void {
  cursor.at += cursor.length === BIG_LENGTH ? BIG_BYTES : cursor.length
  cursor.index++
  readKey(cursor)
}

interface KeyPlace {
  bucket: number
  fingerprint: number
}

/** Concatenates postings stored in buckets: only the first gap of each part changes. False, with nothing written, if
 *  they do not fit into a bucket together. */
function joinInline(writer: BucketWriter, { bucket, fingerprint }: KeyPlace, parts: readonly BucketCursor[]): boolean {
  writer.begin(bucket, fingerprint)
  let last = 0
  for (const { view, at, length, chunkOffset } of parts) {
    const end = at + length
    let first = chunkOffset * CHUNK_SIZE
    let rest = at
    for (let shift = 0; ; shift += 7) {
      const byte = view[rest++]
      first += (byte & 127) << shift
      if (byte < 128) break
    }
    writer.appendGap(first - last)
    writer.appendBytes(view, rest, end)
    last = first
    for (let i = rest, shift = 0; i < end; i++) {
      last += (view[i] & 127) << shift
      shift = view[i] < 128 ? 0 : shift + 7
    }
  }
  return writer.end()
}

function joinBig(store: SegmentStore, writer: BucketWriter, key: KeyPlace, parts: readonly BucketCursor[]): void {
  let count = 0
  const chunks: ChunkPostings[] = []
  for (const { view, at, length, chunkOffset, source } of parts) {
    if (length === BIG_LENGTH) {
      count += view.readUInt32LE(at + 4)
      for (const chunk of decodeBigPostings(store.bigPostings(source.id, view.readUInt32LE(at)))) {
        chunks.push({ ...chunk, chunk: chunk.chunk + chunkOffset })
      }
    } else {
      const ids: number[] = []
      decodeGaps(view, at, at + length, chunkOffset * CHUNK_SIZE, ids)
      count += ids.length
      chunks.push(...splitChunks(ids))
    }
  }
  writer.putBig(key.bucket, key.fingerprint, count, chunks)
}

/** Sorted ids of a segment as postings by chunk. */
function splitChunks(ids: readonly number[]): ChunkPostings[] {
  const chunks: ChunkPostings[] = []
  for (let from = 0; from < ids.length; ) {
    const chunk = ids[from] >> CHUNK_BITS
    const positions: number[] = []
    let to = from
    while (to < ids.length && ids[to] >> CHUNK_BITS === chunk) positions.push(ids[to++] & (CHUNK_SIZE - 1))
    chunks.push(encodeChunk(chunk, positions, 0, positions.length))
    from = to
  }
  return chunks
}
