import { CairnError, UsageError } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import {
  chunksOf,
  createSegmentStore,
  MERGE_FACTOR,
  type Segment,
  type SegmentStore,
} from '../../store/index/segmentStore.js'
import { type BucketEntry, bucketBits, decodeBucket, encodeBucket } from './bucket.js'
import type { IndexKind } from './indexKind.js'
import { type IndexSettings, readIndexSettings } from './indexSettings.js'
import {
  appendPositions,
  CHUNK_BITS,
  CHUNK_SIZE,
  decodeBigPostings,
  decodeGaps,
  encodeBigPostings,
} from './postings.js'
import { createKeyRebuilder, MissingRows, takeBuckets } from './rebuiltKeys.js'
import { findPairFault } from './verifyPairs.js'

/** Location of a difference between an index and its rows. */
interface FaultPlace {
  segment: number
  bucket?: number
  fingerprint?: number
  /** The first item that is missing or superfluous. */
  itemId?: number
}

/** Names of an index and its items. */
type IndexNames = Pick<IndexKind<unknown>, 'name' | 'item' | 'items'>

/** An index differs from its rows; `cairn reindex` rebuilds it. */
export class IndexFault extends CairnError {
  readonly place: FaultPlace
  readonly problem: string
  constructor({ name, item }: IndexNames, place: FaultPlace, problem: string, options?: ErrorOptions) {
    const { segment, bucket, fingerprint, itemId } = place
    const words = [`${name}, segment ${segment}`]
    if (bucket !== undefined) words.push(`bucket ${bucket}`)
    if (fingerprint !== undefined) words.push(`fingerprint 0x${fingerprint.toString(16).padStart(8, '0')}`)
    if (itemId !== undefined) words.push(`${item} ${itemId}`)
    super(`${words.join(', ')}: ${problem}; 'cairn reindex' rebuilds the index`, options)
    this.place = place
    this.problem = problem
  }
}

interface VerifyOptions {
  /** Verify only this segment; undefined: all. */
  segment?: number
  /** Called with the number of compared items after each 65,536. */
  onProgress?: (items: number) => void
}

/** Result of a verification without faults. */
interface IndexVerification {
  segments: number
  items: number
  /** Pairs of key and item. */
  postings: number
}

/** Compares live segments with the postings computed from their rows, both ways, and checks their chunks for gaps and
 *  overlaps. Only reads, each segment in its own snapshot, so an import may run at the same time. Memory: about 10
 *  bytes per posting of a segment; above level 3 an eighth of them at a time. @throws IndexFault at the first
 *  difference; UsageError if there is no live segment with that id. */
export function verifyIndex(
  db: Database,
  kind: IndexKind<unknown>,
  { segment: only, onProgress }: VerifyOptions = {},
): IndexVerification {
  const store = createSegmentStore(db, kind.tables)
  const stored = kind.openStored(db)
  const done: IndexVerification = { segments: 0, items: 0, postings: 0 }
  const settings = readIndexSettings(db)
  const compare = createComparison(db, kind, settings)
  let nextChunk = 0
  const step = db.transaction((): boolean => {
    const live = store.segments('live')
    const segment = only === undefined ? live.find((one) => endOf(one) > nextChunk) : live.find(({ id }) => id === only)
    if (only !== undefined && !segment) throw noSuchSegment(kind, only, live)
    checkCoverage(kind, live, Math.floor(stored.count() / 2 ** (settings?.chunkBits ?? CHUNK_BITS)))
    if (!segment) {
      const [stray] = store.straySegments()
      if (stray !== undefined) throw new IndexFault(kind, { segment: stray }, 'has rows, but is not among the segments')
      return false
    }
    const before = done.items
    done.postings += compare(segment, (items) => onProgress?.(before + items))
    done.segments++
    done.items += chunksOf(segment.level) * 2 ** settings!.chunkBits
    nextChunk = endOf(segment)
    return only === undefined
  })
  while (step());
  return done
}

function noSuchSegment({ name }: IndexNames, id: number, live: readonly Segment[]): UsageError {
  const ids = live.map((segment) => segment.id)
  return new UsageError(
    `${name}: no live segment ${id}; there ${ids.length === 0 ? 'are none' : `is ${ids.join(', ')}`}`,
  )
}

function endOf({ firstChunk, level }: Segment): number {
  return firstChunk + chunksOf(level)
}

/** @throws IndexFault unless the segments cover the full chunks from the start, each once. */
function checkCoverage(kind: IndexKind<unknown>, live: readonly Segment[], fullChunks: number): void {
  let next = 0
  for (const segment of live) {
    const { id, firstChunk, level } = segment
    const fail = (problem: string) => new IndexFault(kind, { segment: id }, problem)
    if (level < 0 || level > kind.tables.maxLevel) throw fail(`there is no level ${level}`)
    if (firstChunk !== next) {
      const words = firstChunk > next ? `chunk ${next} is in no segment` : `chunk ${firstChunk} is in two segments`
      throw fail(`begins with chunk ${firstChunk}: ${words}`)
    }
    if (firstChunk % chunksOf(level) !== 0) throw fail(`chunk ${firstChunk} cannot begin level ${level}`)
    next = endOf(segment)
    if (next > fullChunks) throw fail(`reaches to chunk ${next - 1}, the ${kind.items} fill ${fullChunks}`)
  }
}

// Segments above this level are compared in parts, which bounds memory: 2^25 items at a time. They have no key pairs.
const WHOLE_LEVEL = 3

/** Creates the comparison of one segment, which returns its number of postings. */
function createComparison(
  db: Database,
  kind: IndexKind<unknown>,
  settings: IndexSettings | undefined,
): (segment: Segment, onItems: (items: number) => void) => number {
  if (!settings) {
    return (segment) => {
      throw new IndexFault(kind, { segment: segment.id }, 'the settings of the index are gone')
    }
  }
  const store = createSegmentStore(db, kind.tables)
  const rebuild = createKeyRebuilder(db, kind, settings)
  const rebuildOrExplain = <T>(make: () => T, { id }: Segment): T => {
    try {
      return make()
    } catch (cause) {
      if (cause instanceof MissingRows) throw new IndexFault(kind, { segment: id }, cause.message, { cause })
      throw cause
    }
  }
  const chunkSize = 2 ** settings.chunkBits
  return (segment, onItems) => {
    const { level } = segment
    const items = chunksOf(level) * chunkSize
    const idOf = (position: number) =>
      (segment.firstChunk + Math.floor(position / CHUNK_SIZE)) * chunkSize + (position & (CHUNK_SIZE - 1))
    const counts = { buckets: 0, bigPostings: 0 }
    const parts = MERGE_FACTOR ** Math.max(0, level - WHOLE_LEVEL)
    const bucketsOfPart = 2 ** bucketBits(0) / parts
    let postings = 0
    for (let part = 0; part < parts; part++) {
      const onRead = (read: number) => onItems(Math.floor((part * items + read) / parts))
      const chunks = rebuildOrExplain(() => rebuild(segment, { part, parts }, onRead), segment)
      for (let i = 0; i < bucketsOfPart; i++) {
        const first = (part * bucketsOfPart + i) * MERGE_FACTOR ** level
        for (const [k, expected] of takeBuckets(chunks, i, level).entries()) {
          compareBucket(store, { kind, segment, bucket: first + k, expected, idOf, counts })
        }
      }
      const pairs = parts === 1 ? store.pairs(segment.id) : undefined
      const pairFault = pairs && findPairFault(pairs, chunks)
      if (pairFault) throw new IndexFault(kind, { segment: segment.id }, pairFault)
      postings += chunks.reduce((sum, { positions }) => sum + positions.length, 0)
    }
    const rows = store.countRows(segment.id)
    if (rows.buckets !== counts.buckets || rows.bigPostings !== counts.bigPostings) {
      const [buckets, big] = [rows.buckets - counts.buckets, rows.bigPostings - counts.bigPostings]
      const problem = `${buckets} buckets and ${big} large postings more than its keys need`
      throw new IndexFault(kind, { segment: segment.id }, problem)
    }
    return postings
  }
}

interface BucketComparison {
  kind: IndexNames
  segment: Segment
  bucket: number
  /** Keys are removed as they are found. */
  expected: Map<number, number[]>
  idOf(position: number): number
  /** Rows seen so far. */
  counts: { buckets: number; bigPostings: number }
}

type MakeFault = (place: FaultPlace, problem: string, options?: ErrorOptions) => IndexFault

function compareBucket(store: SegmentStore, comparison: BucketComparison): void {
  const { kind, segment, bucket, expected, idOf, counts } = comparison
  const fault: MakeFault = (at, problem, options) => new IndexFault(kind, at, problem, options)
  const place = { segment: segment.id, bucket }
  const blob = store.bucket(segment.id, bucket)
  if (blob) counts.buckets++
  let last = -1
  for (const entry of blob ? readBucket(blob, place, fault) : []) {
    const { fingerprint } = entry
    const keyPlace = { ...place, fingerprint }
    if (fingerprint <= last) throw fault(keyPlace, 'is not in ascending order')
    last = fingerprint
    if ('big' in entry) counts.bigPostings++
    const wanted = expected.get(fingerprint) ?? []
    const found = readPostings(store, entry, keyPlace, fault)
    const difference = firstDifference(wanted, found)
    if (difference) throw fault({ ...keyPlace, itemId: idOf(difference.position) }, difference.problem)
    if ('big' in entry && entry.big.count !== wanted.length) {
      throw fault(keyPlace, `is said to have ${entry.big.count} ${kind.items}, it has ${wanted.length}`)
    }
    expected.delete(fingerprint)
  }
  for (const [fingerprint, positions] of expected) {
    const problem = blob ? 'the key is missing' : 'the bucket is missing'
    throw fault({ ...place, fingerprint, itemId: idOf(positions[0]) }, problem)
  }
}

/** @throws IndexFault unless the blob is exactly the encoding of its entries. */
function readBucket(blob: Uint8Array, place: FaultPlace, fault: MakeFault): BucketEntry[] {
  return decodeOrExplain(place, fault, () => {
    const entries = decodeBucket(blob)
    if (Buffer.compare(encodeBucket(entries), blob) !== 0) throw fault(place, 'the bucket is damaged')
    return entries
  })
}

/** Positions in the segment, as they are stored. */
function readPostings(store: SegmentStore, entry: BucketEntry, place: FaultPlace, fault: MakeFault): number[] {
  const out: number[] = []
  if ('postings' in entry) {
    decodeGaps(entry.postings, 0, entry.postings.length, 0, out)
    return out
  }
  return decodeOrExplain(place, fault, () => {
    const blob: Uint8Array | undefined = store.bigPostings(place.segment, entry.big.ordinal)
    if (!blob) throw fault(place, `large postings ${entry.big.ordinal} are missing`)
    const chunks = decodeBigPostings(blob)
    if (Buffer.compare(encodeBigPostings(chunks), blob) !== 0) {
      throw fault(place, `large postings ${entry.big.ordinal} are damaged`)
    }
    for (const chunk of chunks) appendPositions(chunk, out)
    return out
  })
}

/** The first position in only one of the lists; duplicates count once. */
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

function decodeOrExplain<T>(place: FaultPlace, fault: MakeFault, decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (cause instanceof RangeError) throw fault(place, 'cannot be decoded', { cause })
    throw cause
  }
}
