import type { Deadline } from '../lib/deadline.js'
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
  for (const rows of candidateRows(access, filter, { range, deadline })) {
    deadline.check()
    for (const row of rows) {
      if (!wanted(row)) continue
      if (found.length === maxResults) throw new TooManyLogs({ limit: maxResults })
      found.push(row)
    }
  }
  return found
}

function* candidateRows(
  { rows, index }: LogAccess,
  filter: RowFilter,
  { range, deadline }: { range: IdRange; deadline: Deadline },
): Generator<LogRow[]> {
  const { clauses, minTopics } = filter
  if ((clauses.length === 0 && minTopics === 0) || range.to - range.from < SMALL_RANGE) {
    for (let from = range.from; from < range.to; from += SLICE) {
      yield rows.slice({ from, to: Math.min(from + SLICE, range.to) }, minTopics)
    }
    return
  }
  for (const ids of index.candidates(filter, range, deadline)) yield rows.byIds(ids)
}
