import { trimLeft } from '../lib/bytes.js'
import { type Deadline, noDeadline } from '../lib/deadline.js'
import { formatData } from '../lib/hex.js'
import type { Database } from '../store/open.js'
import { LogsNotHeld } from './errors.js'
import { createLogExplainer, type LogExplainer } from './explain.js'
import { type LogFilter, normalizeFilter } from './filter.js'
import type { Clause, IdRange, RowFilter } from './index.js'
import { findPage, findRows, type LogAccess, type LogQueryOptions, type RowPage } from './planner.js'
import { createLogRows, type LogRow } from './scan.js'
import { createSegmentIndex } from './segmentIndex.js'
import type { LogTrace } from './trace.js'

export type { LogQueryOptions } from './planner.js'

/** The block of a log. */
export interface LogBlock {
  number: number
  hash: Uint8Array // 32
  timestamp: number // seconds
}

/** A log with its place in the chain. Logs of one block share one `block`, those of one transaction also its hash.
 *  Address, topics and data are lower-case hex with 0x, as rows are read: see `LogRow`. */
export interface LogMatch {
  id: number
  block: LogBlock
  transactionHash: Uint8Array // 32
  transactionIndex: number
  logIndex: number
  address: string // of 20 bytes
  topics: string[] // of 32 bytes each
  data: string
}

/** Log queries over one connection. */
export interface LogSource {
  /** The logs that the filter wants, ordered by (blockNumber, logIndex), out of one snapshot of the database. A range
   *  that ends beyond the head ends at the head.
   *  @throws LogsNotHeld when the range begins before the first block held
   *  @throws TooManyLogs beyond `maxResults` logs
   *  @throws TooManyTopics, DeadlineExceeded */
  query(filter: LogFilter, options: LogQueryOptions): LogMatch[]
  /** A page of the same logs: see `LogPage`. @throws LogsNotHeld, TooManyTopics */
  page(filter: LogFilter, options: LogPageOptions): LogPage
  /** Runs a query for what it does on its way. */
  explain: LogExplainer
  /** Does a slice of about 10 ms of what the first query would have to do; true when there is more. */
  warm(): boolean
}

export interface LogPageOptions {
  /** Id of the first log of the page, as the page before gave it; undefined: the first of the filter's range. */
  fromId?: number
  /** Logs of the page at most. */
  maxResults: number
  /** When it passes, the page ends at the next occasion: after less than a second more. */
  sliceEnds: Deadline
  /** Where the query says what it does, when someone wants to know. */
  trace?: LogTrace
}

/** Some of the logs that a filter wants, in order. */
export interface LogPage {
  matches: LogMatch[]
  /** Id of the first log of the next page; undefined when there is none. */
  nextId?: number
  /** Number of the last block of which all wanted logs were given, here or before; less than the filter's first block
   *  when there is none yet. */
  scannedTo: number
}

/** Log queries through statements prepared once for the connection. */
export function createLogSource(db: Database): LogSource {
  const access: LogAccess = { rows: createLogRows(db), index: createSegmentIndex(db) }
  const resolveRange = createRangeResolver(db)
  const translate = createTranslator(db)
  const decode = createDecoder(db)
  const blockOf = db
    .prepare<[number], number>(
      'SELECT number FROM blocks WHERE n_logs > 0 AND first_log <= ? ORDER BY first_log DESC LIMIT 1',
    )
    .pluck()
  const answer = (filter: LogFilter, range: HeldRange, options: LogQueryOptions): LogMatch[] => {
    const { trace } = options
    trace?.inRange(range)
    const translated = translate(filter, options)
    trace?.translated(translated, filter)
    try {
      const rows = findRows(access, translated, { range, ...options })
      trace?.step('decode')
      return decode(rows, options)
    } catch (error) {
      trace?.overflowBlock((log) => blockOf.get(log)!)
      throw error
    }
  }
  const run = (filter: LogFilter, options: LogQueryOptions): LogMatch[] => {
    options.trace?.begin(filter, options.maxResults)
    const range = resolveRange(filter)
    return range ? answer(filter, range, options) : []
  }
  const findRowsOfPage = (filter: LogFilter, held: HeldRange, options: LogPageOptions): RowPage => {
    const { fromId, trace } = options
    const range = { ...held, from: Math.max(held.from, fromId ?? 0) }
    trace?.inRange(range)
    const translated = translate(filter, { deadline: noDeadline })
    trace?.translated(translated, filter)
    return findPage(access, translated, { ...options, range })
  }
  const runPage = (filter: LogFilter, options: LogPageOptions): LogPage => {
    const { trace } = options
    trace?.begin(filter, options.maxResults)
    const range = resolveRange(filter)
    const rows = range ? findRowsOfPage(filter, range, options) : { rows: [] }
    trace?.step('decode')
    const matches = decode(rows.rows, { deadline: noDeadline })
    if (rows.next === undefined) return { matches, scannedTo: filter.toBlock }
    return { matches, nextId: rows.next, scannedTo: blockOf.get(rows.next)! - 1 }
  }
  const selectLogCount = db
    .prepare<[], number>('SELECT first_log + n_logs FROM blocks ORDER BY number DESC LIMIT 1')
    .pluck()
  const snapshot = db.transaction(run)
  const pageSnapshot = db.transaction(runPage)
  return {
    query: (filter, options) => snapshot(normalizeFilter(filter), options),
    page: (filter, options) => pageSnapshot(normalizeFilter(filter), options),
    explain: createLogExplainer(db, run),
    warm: db.transaction(() => access.index.warm(selectLogCount.get() ?? 0)),
  }
}

interface HeldRange extends IdRange {
  /** The last block held. */
  head: number
}

function createRangeResolver(db: Database): (filter: LogFilter) => HeldRange | undefined {
  const selectCoverage = db.prepare<[], { first: number | null; head: number | null }>(
    'SELECT (SELECT min(number) FROM blocks) AS first, (SELECT max(number) FROM blocks) AS head',
  )
  const selectBounds = db.prepare<[number], { first_log: number; n_logs: number }>(
    'SELECT first_log, n_logs FROM blocks WHERE number = ?',
  )
  return ({ fromBlock, toBlock }) => {
    const { first, head } = selectCoverage.get()!
    if (first === null || head === null) return undefined
    if (fromBlock < first) throw new LogsNotHeld({ fromBlock, firstHeld: first })
    const from = selectBounds.get(fromBlock)
    const last = selectBounds.get(Math.min(toBlock, head))
    if (!from || !last) return undefined
    return { from: from.first_log, to: last.first_log + last.n_logs, head }
  }
}

/** From a filter in full values to the form of the rows: values that were never seen drop out of their clause. */
function createTranslator(db: Database): (filter: LogFilter, options: { deadline: Deadline }) => RowFilter {
  const selectAddress = db.prepare<[Uint8Array], number>('SELECT id FROM addresses WHERE address = ?').pluck()
  const selectTopic = db.prepare<[Uint8Array], number>('SELECT id FROM topics WHERE topic = ?').pluck()
  return ({ addresses, topics }, { deadline }) => {
    const lookUp = (column: 'address_id' | 'topic0_id', values: Uint8Array[]): Clause => {
      deadline.check()
      const select = column === 'address_id' ? selectAddress : selectTopic
      const known = values.map((value) => ({ value, id: select.get(value) })).filter(({ id }) => id !== undefined)
      return { column, keys: known.map(({ id }) => id!), values: known.map(({ value }) => value) }
    }
    const clauses: Clause[] = []
    if (addresses) clauses.push(lookUp('address_id', addresses))
    for (const [position, values] of topics.entries()) {
      if (values === null) continue
      if (position === 0) clauses.push(lookUp('topic0_id', values))
      else clauses.push({ column: TRIMMED_TOPICS[position - 1], keys: values.map(trimLeft), values })
    }
    return { clauses, minTopics: topics.length }
  }
}

const TRIMMED_TOPICS = ['topic1', 'topic2', 'topic3'] as const

interface BlockRow {
  number: number
  hash: Uint8Array
  timestamp: number
  first_tx: number
  first_log: number
  n_logs: number
}

/** From rows in ascending order to logs: dictionaries, blocks and transactions are each read once. */
function createDecoder(db: Database): (rows: LogRow[], options: { deadline: Deadline }) => LogMatch[] {
  const selectAddress = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  const selectTopic = db.prepare<[number], Uint8Array>('SELECT topic FROM topics WHERE id = ?').pluck()
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM transactions WHERE id = ?').pluck()
  const selectBlock = db.prepare<[number], BlockRow>(
    `SELECT number, hash, timestamp, first_tx, first_log, n_logs FROM blocks
     WHERE n_logs > 0 AND first_log <= ? ORDER BY first_log DESC LIMIT 1`,
  )
  return (rows, { deadline }) => {
    const addressOf = memoize((id: number) => formatData(selectAddress.get(id)!))
    const topicOf = memoize((id: number) => formatData(selectTopic.get(id)!))
    let block: BlockRow | undefined
    let place: { block: LogBlock; transactionIndex: number; transactionHash: Uint8Array } | undefined
    const out: LogMatch[] = []
    for (const [id, txIndex, addressId, topic0Id, topic1, topic2, topic3, data, dataLength] of rows) {
      if (out.length % 1_000 === 0) deadline.check()
      if (!block || id >= block.first_log + block.n_logs) {
        block = selectBlock.get(id)!
        place = undefined
      }
      if (place?.transactionIndex !== txIndex) {
        const shared = place?.block ?? { number: block.number, hash: block.hash, timestamp: block.timestamp }
        place = { block: shared, transactionIndex: txIndex, transactionHash: selectHash.get(block.first_tx + txIndex)! }
      }
      const topics = topic0Id === null ? [] : [topicOf(topic0Id)]
      if (topic1 !== null) topics.push(padHex(topic1, 32))
      if (topic2 !== null) topics.push(padHex(topic2, 32))
      if (topic3 !== null) topics.push(padHex(topic3, 32))
      out.push({
        id,
        ...place!,
        logIndex: id - block.first_log,
        address: addressOf(addressId),
        topics,
        data: padHex(data, dataLength ?? 32),
      })
    }
    return out
  }
}

const WORD_ZEROS = '0'.repeat(64)

/** The hex with zeros before it up to `length` bytes, and 0x. */
function padHex(hex: string, length: number): string {
  const missing = length * 2 - hex.length
  return `0x${missing <= 64 ? WORD_ZEROS.slice(0, missing) : '0'.repeat(missing)}${hex}`
}

function memoize<V>(read: (id: number) => V): (id: number) => V {
  const known = new Map<number, V>()
  return (id) => {
    const hit = known.get(id)
    if (hit !== undefined) return hit
    const value = read(id)
    known.set(id, value)
    return value
  }
}
