import { CairnError, UsageError } from '../lib/errors.js'
import {
  type BucketEntry,
  bucketBits,
  bucketOf,
  decodeBucket,
  encodeBucket,
  fingerprintOf,
} from '../segments/bucket.js'
import { type ChunkBuilder, createChunkBuilder } from '../segments/chunkBuilder.js'
import { readIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher } from '../segments/keyHash.js'
import { CHUNK_BITS, CHUNK_SIZE, decodeBigPostings, decodeGaps, encodeBigPostings } from '../segments/postings.js'
import { chunksOf, createSegmentStore, MAX_LEVEL, type Segment, type SegmentStore } from '../segments/segmentStore.js'
import type { Database } from '../store/open.js'
import { createLogKeys } from './logKeys.js'
import { createStoredLogs, type StoredLogs } from './storedLogs.js'

/** Where the log index is not what its rows make. */
interface FaultPlace {
  segment: number
  bucket?: number
  fingerprint?: number
  /** The first log that is missing, or there too much. */
  logId?: number
}

/** The log index is not what the rows make; `cairn reindex` rebuilds it. */
export class IndexFault extends CairnError {
  readonly place: FaultPlace
  readonly problem: string
  constructor(place: FaultPlace, problem: string, options?: ErrorOptions) {
    const { segment, bucket, fingerprint, logId } = place
    const words = [`log index, segment ${segment}`]
    if (bucket !== undefined) words.push(`bucket ${bucket}`)
    if (fingerprint !== undefined) words.push(`fingerprint 0x${fingerprint.toString(16).padStart(8, '0')}`)
    if (logId !== undefined) words.push(`log ${logId}`)
    super(`${words.join(', ')}: ${problem}; 'cairn reindex' rebuilds the index`, options)
    this.place = place
    this.problem = problem
  }
}

interface VerifyOptions {
  /** The id of the only segment to look at; undefined: all. */
  segment?: number
  /** Told how many logs were compared, after each 65,536. */
  onProgress?: (logs: number) => void
}

/** What was compared and found right. */
export interface IndexVerification {
  segments: number
  logs: number
  /** Pairs of key and log. */
  postings: number
}

/** Compares live segments with the postings that their rows make, both ways, and their chunks for gaps and overlaps. It
 *  only reads, each segment in a snapshot of its own, so that it may run beside an import. Memory: about 2 MB for each
 *  65,536 logs of the segment, of which the largest has 4.2 million.
 *  @throws IndexFault at the first difference; UsageError when there is no live segment of that id. */
export function verifyLogIndex(db: Database, { segment: only, onProgress }: VerifyOptions = {}): IndexVerification {
  const store = createSegmentStore(db)
  const stored = createStoredLogs(db)
  const done: IndexVerification = { segments: 0, logs: 0, postings: 0 }
  const settings = readIndexSettings(db)
  const compare = createComparison(store, stored, settings)
  let nextChunk = 0
  const step = db.transaction((): boolean => {
    const live = store.segments('live')
    const segment = only === undefined ? live.find((one) => endOf(one) > nextChunk) : live.find(({ id }) => id === only)
    if (only !== undefined && !segment) throw noSuchSegment(only, live)
    checkCoverage(live, Math.floor(stored.count() / 2 ** (settings?.chunkBits ?? CHUNK_BITS)))
    if (!segment) {
      const [stray] = store.straySegments()
      if (stray !== undefined) throw new IndexFault({ segment: stray }, 'has rows, but is not among the segments')
      return false
    }
    const before = done.logs
    done.postings += compare(segment, (logs) => onProgress?.(before + logs))
    done.segments++
    done.logs += chunksOf(segment.level) * 2 ** settings!.chunkBits
    nextChunk = endOf(segment)
    return only === undefined
  })
  while (step());
  return done
}

function noSuchSegment(id: number, live: readonly Segment[]): UsageError {
  const ids = live.map((segment) => segment.id)
  return new UsageError(`no live segment ${id}; there ${ids.length === 0 ? 'are none' : `is ${ids.join(', ')}`}`)
}

function endOf({ firstChunk, level }: Segment): number {
  return firstChunk + chunksOf(level)
}

/** @throws IndexFault unless the segments cover chunks from the first on, each once, and none beyond the full ones. */
function checkCoverage(live: readonly Segment[], fullChunks: number): void {
  let next = 0
  for (const segment of live) {
    const { id, firstChunk, level } = segment
    const fail = (problem: string) => new IndexFault({ segment: id }, problem)
    if (level < 0 || level > MAX_LEVEL) throw fail(`there is no level ${level}`)
    if (firstChunk !== next) {
      const words = firstChunk > next ? `chunk ${next} lies in no segment` : `chunk ${firstChunk} lies in two segments`
      throw fail(`begins with chunk ${firstChunk}: ${words}`)
    }
    if (firstChunk % chunksOf(level) !== 0) throw fail(`chunk ${firstChunk} cannot begin level ${level}`)
    next = endOf(segment)
    if (next > fullChunks) throw fail(`reaches to chunk ${next - 1}, the logs fill ${fullChunks}`)
  }
}

/** The keys of one chunk, by bucket and fingerprint as the segment's level has them. */
interface RebuiltChunk {
  /** By bucket: its first key; one more at the end. */
  starts: Uint32Array
  fingerprints: Uint32Array
  /** By key: where its positions end. */
  ends: Uint32Array
  positions: Uint16Array
}

/** The comparison of one segment; gives the number of its postings. */
function createComparison(
  store: SegmentStore,
  stored: StoredLogs,
  settings: ReturnType<typeof readIndexSettings>,
): (segment: Segment, onLogs: (logs: number) => void) => number {
  if (!settings) {
    return (segment) => {
      throw new IndexFault({ segment: segment.id }, 'the settings of the index are gone')
    }
  }
  const chunkLogs = 2 ** settings.chunkBits
  const builder = createChunkBuilder()
  const addKeys = createLogKeys(createKeyHasher(settings.secret))
  const rebuild = (segment: Segment, onLogs: (logs: number) => void): RebuiltChunk[] =>
    Array.from({ length: chunksOf(segment.level) }, (_, i) => {
      const from = (segment.firstChunk + i) * chunkLogs
      builder.clear()
      for (const log of stored.read(from, from + chunkLogs)) addKeys(log, builder)
      if (builder.count !== chunkLogs) {
        const problem = `${builder.count} of the ${chunkLogs} rows of logs from ${from} on can be read`
        throw new IndexFault({ segment: segment.id }, problem)
      }
      onLogs((i + 1) * chunkLogs)
      return takeKeys(builder, bucketBits(segment.level))
    })
  return (segment, onLogs) => {
    const chunks = rebuild(segment, onLogs)
    const logIdOf = (position: number) =>
      (segment.firstChunk + Math.floor(position / CHUNK_SIZE)) * chunkLogs + (position & (CHUNK_SIZE - 1))
    const counts = { buckets: 0, bigPostings: 0 }
    for (let bucket = 0; bucket < 2 ** bucketBits(segment.level); bucket++) {
      compareBucket(store, { segment, bucket, expected: keysOf(chunks, bucket), logIdOf, counts })
    }
    const rows = store.countRows(segment.id)
    if (rows.buckets !== counts.buckets || rows.bigPostings !== counts.bigPostings) {
      const [buckets, postings] = [rows.buckets - counts.buckets, rows.bigPostings - counts.bigPostings]
      const problem = `${buckets} buckets and ${postings} large postings more than its keys need`
      throw new IndexFault({ segment: segment.id }, problem)
    }
    return chunks.reduce((sum, { positions }) => sum + positions.length, 0)
  }
}

function takeKeys(builder: ChunkBuilder, bits: number): RebuiltChunk {
  const starts = new Uint32Array(2 ** bits + 1)
  const fingerprints: number[] = []
  const ends: number[] = []
  const positions: number[] = []
  builder.visitSorted((high, low, held, from, to) => {
    starts[bucketOf(high, bits) + 1]++
    fingerprints.push(fingerprintOf(high, low, bits))
    for (let i = from; i < to; i++) positions.push(held[i])
    ends.push(positions.length)
  })
  for (let bucket = 0; bucket < 2 ** bits; bucket++) starts[bucket + 1] += starts[bucket]
  return {
    starts,
    fingerprints: Uint32Array.from(fingerprints),
    ends: Uint32Array.from(ends),
    positions: Uint16Array.from(positions),
  }
}

/** The keys of a bucket in ascending order of hash within a chunk, each with its positions in the segment, ascending. */
function keysOf(chunks: readonly RebuiltChunk[], bucket: number): Map<number, number[]> {
  const keys = new Map<number, number[]>()
  for (const [chunk, { starts, fingerprints, ends, positions }] of chunks.entries()) {
    for (let key = starts[bucket]; key < starts[bucket + 1]; key++) {
      let ids = keys.get(fingerprints[key])
      if (!ids) {
        ids = []
        keys.set(fingerprints[key], ids)
      }
      for (let at = key === 0 ? 0 : ends[key - 1]; at < ends[key]; at++) ids.push(chunk * CHUNK_SIZE + positions[at])
    }
  }
  return keys
}

interface BucketComparison {
  segment: Segment
  bucket: number
  /** Emptied as keys are found. */
  expected: Map<number, number[]>
  logIdOf(position: number): number
  /** Rows met so far. */
  counts: { buckets: number; bigPostings: number }
}

function compareBucket(store: SegmentStore, comparison: BucketComparison): void {
  const { segment, bucket, expected, logIdOf, counts } = comparison
  const place = { segment: segment.id, bucket }
  const blob = store.bucket(segment.id, bucket)
  if (blob) counts.buckets++
  let last = -1
  for (const entry of blob ? readBucket(blob, place) : []) {
    const { fingerprint } = entry
    const keyPlace = { ...place, fingerprint }
    if (fingerprint <= last) throw new IndexFault(keyPlace, 'is not in ascending order')
    last = fingerprint
    if ('big' in entry) counts.bigPostings++
    const wanted = expected.get(fingerprint) ?? []
    const found = readPostings(store, segment, entry, keyPlace)
    const difference = firstDifference(wanted, found)
    if (difference) throw new IndexFault({ ...keyPlace, logId: logIdOf(difference.position) }, difference.problem)
    if ('big' in entry && entry.big.count !== wanted.length) {
      throw new IndexFault(keyPlace, `is said to have ${entry.big.count} logs, it has ${wanted.length}`)
    }
    expected.delete(fingerprint)
  }
  for (const [fingerprint, positions] of expected) {
    const problem = blob ? 'the key is missing' : 'the bucket is missing'
    throw new IndexFault({ ...place, fingerprint, logId: logIdOf(positions[0]) }, problem)
  }
}

/** @throws IndexFault when the blob is not exactly what its entries are encoded as. */
function readBucket(blob: Uint8Array, place: FaultPlace): BucketEntry[] {
  return decodeOrExplain(place, () => {
    const entries = decodeBucket(blob)
    if (Buffer.compare(encodeBucket(entries), blob) !== 0) throw new IndexFault(place, 'the bucket is damaged')
    return entries
  })
}

/** Positions in the segment, as they are stored. */
function readPostings(store: SegmentStore, segment: Segment, entry: BucketEntry, place: FaultPlace): number[] {
  const out: number[] = []
  if ('postings' in entry) {
    decodeGaps(entry.postings, 0, entry.postings.length, 0, out)
    return out
  }
  return decodeOrExplain(place, () => {
    const blob: Uint8Array | undefined = store.bigPostings(segment.id, entry.big.ordinal)
    if (!blob) throw new IndexFault(place, `large postings ${entry.big.ordinal} are missing`)
    const chunks = decodeBigPostings(blob)
    if (Buffer.compare(encodeBigPostings(chunks), blob) !== 0) {
      throw new IndexFault(place, `large postings ${entry.big.ordinal} are damaged`)
    }
    for (const chunk of chunks) appendPositions(chunk, out)
    return out
  })
}

function appendPositions({ chunk, kind, payload }: ReturnType<typeof decodeBigPostings>[number], out: number[]): void {
  const offset = chunk * CHUNK_SIZE
  if (kind === 0) {
    decodeGaps(payload, 0, payload.length, offset, out)
    return
  }
  for (let position = 0; position < payload.length * 8; position++) {
    if (payload[position >> 3] & (1 << (position & 7))) out.push(offset + position)
  }
}

/** The first position in one of the lists only; a position that is there twice counts once. */
function firstDifference(
  wanted: readonly number[],
  found: readonly number[],
): { position: number; problem: string } | undefined {
  let i = 0
  let j = 0
  while (i < wanted.length || j < found.length) {
    if (wanted[i] === found[j]) {
      const position = wanted[i]
      while (wanted[i] === position) i++
      while (found[j] === position) j++
    } else if (j === found.length || wanted[i] < found[j]) {
      return { position: wanted[i], problem: 'has the key and is missing' }
    } else return { position: found[j], problem: 'is there and does not have the key' }
  }
  return undefined
}

function decodeOrExplain<T>(place: FaultPlace, decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (cause instanceof RangeError) throw new IndexFault(place, 'cannot be decoded', { cause })
    throw cause
  }
}
