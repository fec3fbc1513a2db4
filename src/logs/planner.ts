import type { Deadline } from '../lib/deadline.js'
import { TooManyLogs } from './errors.js'
import type { Clause, ClauseColumn, IdRange, LogIndex, RowFilter } from './index.js'
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
  refuseByCount(access.index, filter, { range, deadline, maxResults })
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

/** Refuses what is too much by counting alone: no clause, or one whose rows all have enough topics. */
function refuseByCount(
  index: LogIndex,
  { clauses, minTopics }: RowFilter,
  { range, deadline, maxResults }: LogQueryOptions & { range: IdRange },
): void {
  if (range.to - range.from <= maxResults) return
  let matches = 0
  if (clauses.length === 0 && minTopics === 0) {
    matches = range.to - range.from
  } else if (clauses.length === 1 && minTopics <= topicsImplied(clauses[0].column)) {
    matches = index.count(clauses[0], range, { limit: maxResults + 1, deadline })
  }
  if (matches > maxResults) throw new TooManyLogs({ limit: maxResults })
}

const TOPICS_IMPLIED: { [column in ClauseColumn]: number } = {
  address_id: 0,
  topic0_id: 1,
  topic1: 2,
  topic2: 3,
  topic3: 4,
}

function topicsImplied(column: Clause['column']): number {
  return TOPICS_IMPLIED[column]
}

function* candidateRows(
  { rows, index }: LogAccess,
  { clauses, minTopics }: RowFilter,
  { range, deadline }: { range: IdRange; deadline: Deadline },
): Generator<LogRow[]> {
  if (clauses.length === 0 || range.to - range.from < SMALL_RANGE) {
    for (let from = range.from; from < range.to; from += SLICE) {
      yield rows.slice({ from, to: Math.min(from + SLICE, range.to) }, minTopics)
    }
    return
  }
  for (const ids of index.candidates(clauses, range, deadline)) yield rows.byIds(ids)
}
