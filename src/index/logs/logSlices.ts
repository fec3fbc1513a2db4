import type { BlockRange } from '../../chain/eth/types.js'
import { type Deadline, noDeadline } from '../../lib/deadline.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createBlockOfLog } from '../../store/rows/blockOfLog.js'
import { createStoredLogs } from '../../store/rows/log.js'
import { createLogRanges } from '../../store/rows/logRanges.js'
import { createLogRecordReader, type LogRecordSource } from '../../store/rows/logRecords.js'
import { createLogRows, type LogRow } from '../../store/rows/logRows.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { type LogFilter, normalizeFilter } from './filter.js'
import type { LogColumnSet } from './logColumnBuffers.js'
import { createLogColumnWriter } from './logColumns.js'
import { canCheck } from './logText.js'
import { findPage, type LogAccess } from './planner.js'
import { createSegmentIndex } from './segmentIndex.js'
import { createFilterTranslator } from './translateFilter.js'

/** Addresses and topics of a filter. */
export type LogCondition = Pick<LogFilter, 'addresses' | 'topics'>

/** When a slice ends: with the block in which one of these is reached. */
export interface SliceBudget {
  readonly rows: number
  readonly sizeBytes: number
  readonly ends: Deadline
  /** Not a budget: reading fails once it passes. */
  readonly deadline: Deadline
}

/** Logs of whole blocks. */
export interface LogSlice {
  readonly logs: LogColumnSet
  /** The last block whose logs are in this slice or an earlier one. */
  readonly to: number
}

/** Reads the logs that match any of some conditions, in the order of the chain. */
export interface LogSlices {
  /** The next logs of the stored blocks in `range`: at least those of one block. The columns are valid until the next
   *  call. Call it in a snapshot. @throws DeadlineExceeded; TooManyTopics; Error when the block, transaction, address
   *  or topic of a log is missing */
  read(conditions: readonly LogCondition[], range: BlockRange, budget: SliceBudget): LogSlice
}

// Logs of one statement: about 1 ms.
const STEP = 1_000
// Logs whose candidates are searched at once. Few candidates in a window double the next one.
const MIN_WINDOW = 2 ** 16
const MAX_WINDOW = 2 ** 20
const FEW_CANDIDATES = 4_096
// The same for filters whose rows are read first.
const MIN_ROWS_WINDOW = 4_096
const FEW_ROWS = 1_000
/** From this share of candidates on, reading all rows of the range is faster than looking candidates up. */
const DENSE = 1 / 3
/** Data of the logs of one statement, where some are long. */
const MAX_DATA_BYTES = 4_000_000

/** A part of the logs: records, and the rows to read where these do not exist. */
interface Step {
  /** All matching logs below this id are in this step or an earlier one. */
  readonly next: number
  readonly records?: Uint8Array
  rows(): readonly LogRow[]
}

/** Creates a reader with statements prepared once for the connection. `watch` and `pages` are of that connection. */
export function createLogSlices(db: Database, watch: CommitWatch, pages?: LogRecordSource): LogSlices {
  return new SliceReader(db, watch, pages)
}

class SliceReader implements LogSlices {
  readonly #access: LogAccess
  readonly #ranges: ReturnType<typeof createLogRanges>
  readonly #blockOfLog: ReturnType<typeof createBlockOfLog>
  readonly #translate: ReturnType<typeof createFilterTranslator>
  readonly #records: ReturnType<typeof createLogRecordReader>
  readonly #readLogs: ReturnType<typeof createStoredLogs>
  readonly #writer: ReturnType<typeof createLogColumnWriter>

  constructor(db: Database, watch: CommitWatch, pages: LogRecordSource | undefined) {
    this.#access = { rows: createLogRows(db), index: createSegmentIndex(db, watch) }
    this.#ranges = createLogRanges(db, watch)
    this.#blockOfLog = createBlockOfLog(db)
    this.#translate = createFilterTranslator(db)
    this.#records = createLogRecordReader(db, pages)
    this.#readLogs = createStoredLogs(db)
    this.#writer = createLogColumnWriter(db)
  }

  read(conditions: readonly LogCondition[], { from, to }: BlockRange, budget: SliceBudget): LogSlice {
    const writer = this.#writer
    writer.clear()
    const ids = this.#ranges.idsOf(from, to)
    if (ids === undefined) throw new Error(`the blocks ${from} to ${to} are not stored`)
    const filters = conditions.map((each) =>
      this.#translate(normalizeFilter({ fromBlock: from, toBlock: to, ...each }), budget),
    )
    const end = this.#addUntilSpent(filters, ids, budget)
    return { logs: writer.columns(), to: end === ids.to ? to : this.#blockOfLog.numberOf(end - 1)! }
  }

  /** Adds the matching logs until the budget is spent. Returns the end of the last whole block. */
  #addUntilSpent(filters: readonly RowFilter[], ids: IdRange, budget: SliceBudget): number {
    const { rows, sizeBytes, ends, deadline } = budget
    const writer = this.#writer
    for (const step of this.#steps(filters, ids)) {
      deadline.check()
      this.#add(step)
      const isSpent = writer.rows() >= rows || writer.sizeBytes() >= sizeBytes || ends.remainingMs() <= 0
      if (step.next >= ids.to || !isSpent) continue
      const number = this.#blockOfLog.numberOf(step.next - 1)!
      const end = this.#ranges.idsOf(number, number)!.to
      if (end > step.next) for (const rest of this.#steps(filters, { from: step.next, to: end })) this.#add(rest)
      return end
    }
    return ids.to
  }

  *#steps(filters: readonly RowFilter[], range: IdRange): Generator<Step> {
    const possible = filters.filter(({ clauses }) => clauses.every(({ keys }) => keys.length > 0))
    const all = possible.find(({ clauses, minTopics }) => clauses.length === 0 && minTopics === 0)
    if (possible.length === 0) yield { next: range.to, rows: () => [] }
    else if (all !== undefined) yield* this.#stepsOfRange(all, range)
    else if (possible.length === 1 && canCheck(possible[0])) yield* this.#stepsOfIndex(possible[0], range)
    else yield* this.#stepsOfRows(possible, range)
  }

  /** Reads all logs of the range, for a filter that wants most of them. */
  *#stepsOfRange(filter: RowFilter, { from: first, to: end }: IdRange): Generator<Step> {
    for (let from = first; from < end; from += STEP) {
      const range = { from, to: Math.min(from + STEP, end) }
      const rows = () => this.#findRows([filter], range)
      yield { next: range.to, records: this.#records.ofRange(range, filter), rows }
    }
  }

  /** Reads the candidates of a filter that SQLite checks. */
  *#stepsOfIndex(filter: RowFilter, range: IdRange): Generator<Step> {
    let size = MIN_WINDOW
    for (let from = range.from; from < range.to; ) {
      const window = { from, to: Math.min(from + size, range.to) }
      const ids: number[] = []
      for (const batch of this.#access.index.candidates(filter, window, { deadline: noDeadline })) {
        for (const id of batch.ids) ids.push(id)
      }
      if (ids.length > DENSE * (window.to - window.from)) yield* this.#stepsOfRange(filter, window)
      else yield* this.#stepsOfIds(filter, ids, window)
      from = window.to
      size = ids.length < FEW_CANDIDATES ? Math.min(MAX_WINDOW, size * 2) : MIN_WINDOW
    }
  }

  *#stepsOfIds(filter: RowFilter, ids: readonly number[], window: IdRange): Generator<Step> {
    for (let at = 0; at < ids.length; at += STEP) {
      const part = ids.slice(at, at + STEP)
      const next = part[part.length - 1] + 1
      const rows = () => this.#findRows([filter], { from: part[0], to: next })
      yield { next, records: this.#records.ofCandidates(part, filter), rows }
    }
    yield { next: window.to, rows: () => [] }
  }

  /** Reads the rows first: of several filters, whose logs may be the same, and of filters with long lists. */
  *#stepsOfRows(filters: readonly RowFilter[], range: IdRange): Generator<Step> {
    let size = MIN_ROWS_WINDOW
    for (let from = range.from; from < range.to; ) {
      const window = { from, to: Math.min(from + size, range.to) }
      const rows = this.#findRows(filters, window)
      yield { next: window.to, rows: () => rows }
      from = window.to
      size = rows.length < FEW_ROWS ? Math.min(MAX_WINDOW, size * 2) : MIN_ROWS_WINDOW
    }
  }

  /** The rows that match any of the filters, by id. */
  #findRows(filters: readonly RowFilter[], range: IdRange): LogRow[] {
    const options = { range, sliceEnds: noDeadline, maxResults: Number.POSITIVE_INFINITY }
    const [first, ...others] = filters.map((filter) => findPage(this.#access, filter, options).rows)
    if (others.length === 0) return first
    const byId = new Map([first, ...others].flat().map((row) => [row[0], row]))
    return [...byId.values()].sort(([a], [b]) => a - b)
  }

  #add({ records, rows }: Step): void {
    if (records !== undefined && this.#writer.add(records)) return
    const found = rows()
    for (let from = 0; from < found.length; ) {
      const ids: number[] = []
      let left = MAX_DATA_BYTES
      for (; from < found.length && ids.length < STEP && (left > 0 || ids.length === 0); from++) {
        ids.push(found[from][0])
        left -= found[from][1]
      }
      if (this.#writer.add(this.#records.byIds(ids))) continue
      for (const log of this.#readLogs(ids)) this.#writer.addLog(log)
    }
  }
}
