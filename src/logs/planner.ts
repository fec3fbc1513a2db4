import { type Deadline, noDeadline } from '../lib/deadline.js'
import { TooManyLogs } from './errors.js'
import type { IdRange, LogIndex, RowFilter } from './index.js'
import { createRowTest, type LogRow, type LogRows } from './scan.js'

/** What bounds a query. */
export interface LogQueryOptions {
  deadline: Deadline
  /** One more is an error. */
  maxResults: number
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
  { range, deadline, maxResults }: LogQueryOptions & { range: IdRange },
): LogRow[] {
  if (filter.clauses.some(({ keys }) => keys.length === 0)) return []
  if (filter.clauses.length === 0 && filter.minTopics === 0 && range.to - range.from > maxResults) {
    throw new TooManyLogs({ limit: maxResults })
  }
  const wanted = createRowTest(filter)
  const found: LogRow[] = []
  for (const { rows } of candidateRows(access, filter, { range, deadline })) {
    deadline.check()
    for (const row of rows) {
      if (!wanted(row)) continue
      if (found.length === maxResults) throw new TooManyLogs({ limit: maxResults })
      found.push(row)
    }
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
  { range, sliceEnds, maxResults }: { range: IdRange; sliceEnds: Deadline; maxResults: number },
): RowPage {
  if (filter.clauses.some(({ keys }) => keys.length === 0)) return { rows: [] }
  const wanted = createRowTest(filter)
  const found: LogRow[] = []
  for (const { rows, next } of candidateRows(access, filter, { range, deadline: noDeadline })) {
    for (const row of rows) {
      if (!wanted(row)) continue
      found.push(row)
      if (found.length === maxResults) return { rows: found, next: row[0] + 1 < range.to ? row[0] + 1 : undefined }
    }
    if (next < range.to && sliceEnds.remainingMs() <= 0) return { rows: found, next }
  }
  return { rows: found }
}

function* candidateRows(
  { rows, index }: LogAccess,
  filter: RowFilter,
  { range, deadline }: { range: IdRange; deadline: Deadline },
): Generator<{ rows: LogRow[]; next: number }> {
  const { clauses, minTopics } = filter
  if ((clauses.length === 0 && minTopics === 0) || range.to - range.from < SMALL_RANGE) {
    for (let from = range.from; from < range.to; from += SLICE) {
      const next = Math.min(from + SLICE, range.to)
      yield { rows: rows.slice({ from, to: next }, minTopics), next }
    }
    return
  }
  for (const { ids, next } of index.candidates(filter, range, deadline)) {
    yield { rows: ids.length === 0 ? [] : rows.byIds(ids), next }
  }
}
