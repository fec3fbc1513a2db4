import { createByteLru } from '../../lib/byteLru.js'
import { trimLeft } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import {
  chunksOf,
  createSegmentStore,
  type Segment,
  type SegmentStore,
  sealedChunks,
} from '../../store/index/segmentStore.js'
import type { Clause, IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { untilCommit } from '../../store/untilCommit.js'
import { type IndexSettings, readIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher, type KeyHasher } from '../segments/keyHash.js'
import { type HashedKey, openPairs } from '../segments/keyPairs.js'
import { CHUNK_BITS, CHUNK_SIZE } from '../segments/postings.js'
import type { CandidateBatch, LogIndex, SearchOptions } from './candidateIndex.js'
import { type ClauseEntries, findEntries, readEntries, readingMicroseconds } from './clauseEntries.js'
import { type ClauseReader, createClauseReader } from './clausePostings.js'
import { PRESENCE_POSITION } from './logKeys.js'
import { LOG_SEARCH_INDEX } from './logSearchIndex.js'
import { LogTail } from './tail.js'
import type { ClauseName, LogTrace } from './trace.js'

const POSITIONS = { address_id: 0, topic0_id: 1, topic1: 2, topic2: 3, topic3: 4 } as const

/** A clause during a query. */
interface PlannedClause {
  name: ClauseName
  keys: HashedKey[] // in bucket order
  /** Postings seen so far, and the chunks they were in. */
  seen: number
  seenChunks: number
}

// Cost model for the choice between index and rows; measured with `npm run bench:logs`.
const ROW_MICROSECONDS = 3
const KEY_MICROSECONDS = 4
const BATCH = 500
const NOTHING = new Uint32Array(0)
// Big postings cached per connection: those of some dozen popular values.
const KEPT_BYTES = 8_000_000
// Fewer postings with their rows cost less than the pair table. Longer key lists are not looked up in it.
const PAIR_POSTINGS = 32
const PAIR_KEYS = 8

/** Creates the log search index of one connection. */
export function createSegmentIndex(db: Database, watch: CommitWatch): LogIndex {
  const store = keepBigPostings(createSegmentStore(db, LOG_SEARCH_INDEX.tables))
  const liveSegments = untilCommit(watch, () => store.segments('live'))
  const tail = new LogTail(db, watch)
  let reader: ClauseReader | undefined
  let settings: IndexSettings | undefined
  let hasher: KeyHasher | undefined
  function* candidates(filter: RowFilter, range: IdRange, options: SearchOptions): Generator<CandidateBatch> {
    const { deadline, trace } = options
    trace?.step('lookUp')
    settings ??= readIndexSettings(db)
    let sealedLogs = 0
    if (settings) {
      const { secret, chunkBits } = settings
      hasher ??= createKeyHasher(secret)
      reader ??= createClauseReader()
      const segments = liveSegments()
      const sealed = sealedChunks(segments)
      sealedLogs = sealed * 2 ** chunkBits
      const clauses = planClauses(filter, hasher)
      for (const segment of segments) {
        if (segment.firstChunk >= sealed) break
        deadline.check()
        const part = clip(segment, range, chunkBits)
        if (!part) continue
        const offsetOf = (chunk: number) => (segment.firstChunk + chunk) * 2 ** chunkBits
        const logs = chunksOf(segment.level) * 2 ** chunkBits
        trace?.segment({ id: segment.id, level: segment.level, firstLog: offsetOf(0), logs })
        const positions = searchSegment({ store, reader }, segment, { clauses, range: part, deadline, trace })
        trace?.segmentDone(positions.length)
        const idOf = (position: number) => offsetOf(position >>> CHUNK_BITS) + (position & (CHUNK_SIZE - 1))
        yield* batches(positions, idOf, Math.min(range.to, offsetOf(chunksOf(segment.level))))
      }
    }
    if (range.to <= sealedLogs) return
    deadline.check()
    const tailRange = { from: Math.max(range.from, sealedLogs), to: range.to }
    const facts = trace?.tail(tailRange)
    trace?.step('tailLoad')
    tail.refresh(sealedLogs, range.to, { deadline, facts })
    trace?.step('tailScan')
    const ids = tail.scan(filter.clauses, filter.minTopics, tailRange)
    if (facts) facts.candidates = ids.length
    yield* batches(ids, (id) => id, range.to)
  }
  const warm = (logCount: number): boolean => {
    settings ??= readIndexSettings(db)
    const sealedLogs = settings ? sealedChunks(liveSegments()) * 2 ** settings.chunkBits : 0
    return tail.warm(sealedLogs, logCount)
  }
  return { candidates, warm }
}

/** Wraps the store with a cache of recently read big postings, which never change, because segment ids are not reused.
 *  It saves a twentieth of a query's time, but mainly garbage: allocating that much outside V8's heap triggers full
 *  collections. */
function keepBigPostings(store: SegmentStore): SegmentStore {
  const kept = createByteLru<Uint8Array>({ maxBytes: KEPT_BYTES, sizeOf: (_, { length }) => length })
  return {
    ...store,
    bigPostings: (segment, ordinal) => {
      const key = `${segment} ${ordinal}`
      let postings = kept.get(key)
      if (postings === undefined) {
        postings = store.bigPostings(segment, ordinal)
        if (postings.length <= KEPT_BYTES / 8) kept.set(key, postings)
      }
      return postings
    },
  }
}

function* batches(found: ArrayLike<number>, idOf: (found: number) => number, end: number): Generator<CandidateBatch> {
  if (found.length === 0) yield { ids: [], next: end }
  for (let from = 0; from < found.length; from += BATCH) {
    const to = Math.min(from + BATCH, found.length)
    const ids: number[] = []
    for (let i = from; i < to; i++) ids.push(idOf(found[i]))
    yield { ids, next: to < found.length ? ids[ids.length - 1] + 1 : end }
  }
}

/** The part of an id range in the segment, as positions. */
function clip({ firstChunk, level }: Segment, { from, to }: IdRange, chunkBits: number): IdRange | undefined {
  const chunkLogs = 2 ** chunkBits
  const start = firstChunk * chunkLogs
  const end = start + chunksOf(level) * chunkLogs
  if (from >= end || to <= start) return undefined
  const positionOf = (id: number) => Math.floor(id / chunkLogs) * 2 ** CHUNK_BITS + (id % chunkLogs)
  return { from: positionOf(Math.max(from - start, 0)), to: positionOf(Math.min(to, end) - start) }
}

function planClauses({ clauses, minTopics }: RowFilter, hasher: KeyHasher): PlannedClause[] {
  const planned = clauses.map((clause) => planClause(clause, hasher))
  const implied = Math.max(0, ...clauses.map(({ column }) => POSITIONS[column]))
  if (minTopics > implied) {
    hasher.hashId(PRESENCE_POSITION, minTopics)
    planned.push({ name: 'presence', keys: [{ high: hasher.high, low: hasher.low }], seen: 0, seenChunks: 0 })
  }
  // Single keys are cheap to look up and may end the query; then lists, shorter first, until sizes are known.
  return planned.sort((a, b) => a.keys.length - b.keys.length)
}

function planClause({ column, values }: Clause, hasher: KeyHasher): PlannedClause {
  const position = POSITIONS[column]
  const keys = values.map((value) => {
    hasher.hashBytes(position, position === 0 ? value : trimLeft(value))
    return { high: hasher.high, low: hasher.low }
  })
  keys.sort((a, b) => a.high - b.high)
  return { name: column, keys, seen: 0, seenChunks: 0 }
}

interface SegmentAccess {
  store: SegmentStore
  reader: ClauseReader
}

interface SegmentSearch {
  clauses: PlannedClause[]
  /** Positions in the segment. */
  range: IdRange
  deadline: Deadline
  trace?: LogTrace
}

/** Positions in the range of the segment's logs that may match the clauses, ascending. */
function searchSegment(access: SegmentAccess, segment: Segment, search: SegmentSearch): Uint32Array {
  const { store } = access
  const { clauses, range, deadline, trace } = search
  trace?.step('lookUp')
  const size = chunksOf(segment.level)
  const density = (clause: PlannedClause) => (clause.seenChunks === 0 ? 0 : clause.seen / clause.seenChunks)
  const order = clauses.every(({ seenChunks }) => seenChunks > 0)
    ? clauses.slice().sort((a, b) => density(a) * size + a.keys.length - (density(b) * size + b.keys.length))
    : clauses
  const found: ClauseEntries[] = []
  let fewest = Number.POSITIVE_INFINITY
  for (const clause of order) {
    // Checking the remaining rows may be cheaper than another clause.
    if (fewest * ROW_MICROSECONDS < clause.keys.length * KEY_MICROSECONDS) break
    const entries = findEntries(store, segment, clause.keys, deadline)
    const { postings } = entries
    trace?.consulted({ name: clause.name, keys: clause.keys.length, found: entries.keys.length, postings })
    clause.seen += postings
    clause.seenChunks += size
    if (postings === 0) {
      trace?.skipped(order, 'empty')
      return NOTHING
    }
    found.push(entries)
    fewest = Math.min(fewest, postings)
  }
  trace?.skipped(order, 'rows')
  trace?.step('intersect')
  if (fewest >= PAIR_POSTINGS && areDisjoint(store, segment, found)) {
    trace?.disjoint()
    return NOTHING
  }
  return intersectCheapest(access, segment, found, range)
}

/** True if the key pairs show that no log of the segment matches two of the clauses. */
function areDisjoint(store: SegmentStore, { id }: Segment, found: readonly ClauseEntries[]): boolean {
  const short = found.filter(({ keys }) => keys.length <= PAIR_KEYS)
  const blob = short.length < 2 ? undefined : store.pairs(id)
  if (!blob) return false
  const pairs = openPairs(blob)
  const places = short
    .map(({ keys }) => keys.map((key) => pairs.indexOf(key)))
    .filter((ofClause) => !ofClause.includes(-1))
  return places.some((ofOne, i) =>
    places.slice(i + 1).some((ofOther) => ofOne.every((a) => ofOther.every((b) => !pairs.coOccur(a, b)))),
  )
}

/** Positions of logs that may match the clauses. Reads the smallest clause, and further ones while that costs less than
 *  checking the remaining rows. Counts are known before any posting is read, so a popular value beside rare ones costs
 *  nothing. */
function intersectCheapest(
  { store, reader }: SegmentAccess,
  segment: Segment,
  found: ClauseEntries[],
  range: IdRange,
): Uint32Array {
  const [smallest, ...others] = found.sort((a, b) => a.postings - b.postings)
  let left = readEntries(store, segment, smallest)
  let positions: Uint32Array | undefined
  for (const entries of others) {
    if (readingMicroseconds(entries, segment) >= left.total * ROW_MICROSECONDS) break
    positions = reader.intersect([left, readEntries(store, segment, entries)], range)
    left = { small: positions, big: [], total: positions.length }
  }
  return positions ?? reader.list(left, range)
}
