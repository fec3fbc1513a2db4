import { type Deadline, noDeadline } from '../lib/deadline.js'
import { TooManyLogs } from './errors.js'
import type { IdRange, LogIndex, RowFilter, SearchOptions } from './index.js'
import type { LogRow, LogRows, RowReader } from './scan.js'
import type { LogTrace } from './trace.js'

/** What bounds a query. */
export interface LogQueryOptions {
  deadline: Deadline
  /** One more is an error. */
  maxResults: number
  /** Where the query says what it does, when someone wants to know. */
  trace?: LogTrace
}

/** What the planner works with. */
export interface LogAccess {
  rows: LogRows
  index: LogIndex
}

// Reading that many rows one after another is cheaper than asking an index.
const SMALL_RANGE = 400
// Rows per statement of a scan: 1 to 5 ms, so that the deadline is looked at in time.
const SLICE = 2_000

/** The rows in the range that the filter wants, in the order of their ids.
 *  @throws TooManyLogs beyond `maxResults` rows, DeadlineExceeded */
export function findRows(
  access: LogAccess,
  filter: RowFilter,
  { range, deadline, maxResults, trace }: LogQueryOptions & { range: IdRange },
): LogRow[] {
  if (filter.clauses.some(({ keys }) => keys.length === 0)) return []
  if (filter.clauses.length === 0 && filter.minTopics === 0 && range.to - range.from > maxResults) {
    trace?.overflow('arithmetic', range.from + maxResults)
    throw new TooManyLogs({ limit: maxResults })
  }
  const reader = access.rows(filter)
  const found: LogRow[] = []
  for (const { rows } of candidateRows({ reader, index: access.index }, filter, { range, deadline, trace })) {
    deadline.check()
    trace?.step('verify')
    const before = found.length
    for (const row of rows) {
      if (!reader.isWanted(row)) continue
      if (found.length === maxResults) {
        trace?.verified(rows.indexOf(row) + 1, found.length + 1 - before)
        trace?.overflow('met', row[0])
        throw new TooManyLogs({ limit: maxResults })
      }
      found.push(row)
    }
    trace?.verified(rows.length, found.length - before)
  }
  return found
}

/** A stretch of rows that a filter wants. */
export interface RowPage {
  rows: LogRow[]
  /** Where the next page begins; undefined when the range is done. */
  next?: number
}

/** The first rows in the range that the filter wants: at most `maxResults`, and not many more after `sliceEnds` than one
 *  look at the index gives. Always some way on, never an error of time. */
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

/** True when all rows of the range are read instead of candidates: the filter asks for nothing, or the range is short. */
export function readsAllRows({ clauses, minTopics }: RowFilter, { from, to }: IdRange): boolean {
  return (clauses.length === 0 && minTopics === 0) || to - from < SMALL_RANGE
}

function* candidateRows(
  { reader, index }: { reader: RowReader; index: LogIndex },
  filter: RowFilter,
  { range, deadline, trace }: SearchOptions & { range: IdRange },
): Generator<{ rows: LogRow[]; next: number }> {
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
