import { type Deadline, DeadlineExceeded, noDeadline } from '../../lib/deadline.js'
import type { LogRow, LogRows, RowReader } from '../../store/rows/logRows.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import type { LogIndex, SearchOptions } from './candidateIndex.js'
import { LogScanTimeout, TooManyLogs } from './errors.js'
import type { AskForHelp } from './sharedBatches.js'
import type { LogTrace } from './trace.js'

/** Limits of a query. */
export interface LogQueryOptions {
  deadline: Deadline
  /** One more is an error. */
  maxResults: number
  /** Trace of the query, if wanted. */
  trace?: LogTrace
  /** How to ask another thread for help, if it may. */
  askForHelp?: AskForHelp
}

/** Data access of the planner. */
export interface LogAccess {
  rows: LogRows
  index: LogIndex
}

// Scanning this many rows is cheaper than using the index.
const SMALL_RANGE = 400
// Rows per statement of a scan: 1 to 5 ms, so that the deadline is checked in time.
const SLICE = 2_000

/** The matching rows in the range, by id. @throws TooManyLogs beyond `maxResults` rows, LogScanTimeout */
export function findRows(
  access: LogAccess,
  filter: RowFilter,
  { range, deadline, maxResults, trace }: LogQueryOptions & { range: IdRange },
): LogRow[] {
  if (filter.clauses.some(({ keys }) => keys.length === 0)) return []
  if (filter.clauses.length === 0 && filter.minTopics === 0 && range.to - range.from > maxResults) {
    trace?.plan('arithmetic')
    throw new TooManyLogs({ limit: maxResults, log: range.from + maxResults })
  }
  const reader = access.rows(filter)
  const batches = candidateRows({ reader, index: access.index }, filter, { range, deadline, trace })
  const progress: { scannedTo?: number } = {}
  try {
    return collectRows(noteProgress(batches, deadline, progress), reader, { deadline, maxResults, trace })
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    throw new LogScanTimeout({ limitMs: error.limitMs, ...progress })
  }
}

/** The batches; records the end of the last one finished in the first half of the time. That range alone takes half of
 *  the time, which leaves room for writing the result and for a busier machine. */
function* noteProgress(
  batches: Iterable<RowBatch>,
  deadline: Deadline,
  progress: { scannedTo?: number },
): Generator<RowBatch> {
  const halfMs = deadline.limitMs / 2
  for (const batch of batches) {
    yield batch
    if (deadline.remainingMs() > halfMs) progress.scannedTo = batch.next
  }
}

function collectRows(batches: Iterable<RowBatch>, reader: RowReader, options: LogQueryOptions): LogRow[] {
  const { deadline, maxResults, trace } = options
  const found: LogRow[] = []
  for (const { rows } of batches) {
    deadline.check()
    trace?.step('verify')
    const before = found.length
    for (const row of rows) {
      if (!reader.isWanted(row)) continue
      if (found.length === maxResults) {
        trace?.verified(rows.indexOf(row) + 1, found.length + 1 - before)
        throw new TooManyLogs({ limit: maxResults, log: row[0] })
      }
      found.push(row)
    }
    trace?.verified(rows.length, found.length - before)
  }
  return found
}

/** Rows to be checked, and the id below which they include all candidates. */
interface RowBatch {
  rows: LogRow[]
  next: number
}

/** Consecutive matching rows. */
interface RowPage {
  rows: LogRow[]
  /** Start of the next page; undefined at the end of the range. */
  next?: number
}

/** The first matching rows of the range: at most `maxResults`, and after `sliceEnds` only the rest of one index step.
 *  Always makes progress, never times out. */
export function findPage(
  access: LogAccess,
  filter: RowFilter,
  {
    range,
    sliceEnds,
    maxResults,
    trace,
  }: { range: IdRange; sliceEnds: Deadline; maxResults: number; trace?: LogTrace },
): RowPage {
  if (filter.clauses.some(({ keys }) => keys.length === 0)) return { rows: [] }
  const reader = access.rows(filter)
  const found: LogRow[] = []
  for (const { rows, next } of candidateRows({ reader, index: access.index }, filter, {
    range,
    deadline: noDeadline,
    trace,
  })) {
    trace?.step('verify')
    const before = found.length
    for (const row of rows) {
      if (!reader.isWanted(row)) continue
      found.push(row)
      if (found.length === maxResults) {
        trace?.verified(rows.indexOf(row) + 1, found.length - before)
        return { rows: found, next: row[0] + 1 < range.to ? row[0] + 1 : undefined }
      }
    }
    trace?.verified(rows.length, found.length - before)
    if (next < range.to && sliceEnds.remainingMs() <= 0) return { rows: found, next }
  }
  return { rows: found }
}

/** True if all rows of the range are scanned instead of candidates: the filter has no conditions, or the range is
 *  short. */
export function readsAllRows({ clauses, minTopics }: RowFilter, { from, to }: IdRange): boolean {
  return (clauses.length === 0 && minTopics === 0) || to - from < SMALL_RANGE
}

function* candidateRows(
  { reader, index }: { reader: RowReader; index: LogIndex },
  filter: RowFilter,
  { range, deadline, trace }: SearchOptions & { range: IdRange },
): Generator<RowBatch> {
  if (readsAllRows(filter, range)) {
    trace?.plan('rows')
    for (let from = range.from; from < range.to; from += SLICE) {
      const next = Math.min(from + SLICE, range.to)
      trace?.step('fetch')
      const slice = reader.slice({ from, to: next })
      trace?.fetched(slice.length)
      yield { rows: slice, next }
    }
    return
  }
  trace?.plan('index')
  for (const { ids, next } of index.candidates(filter, range, { deadline, trace })) {
    trace?.step('fetch')
    const batch = ids.length === 0 ? [] : reader.byIds(ids)
    trace?.fetched(batch.length)
    yield { rows: batch, next }
  }
}
