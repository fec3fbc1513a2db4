import { canCheck } from '../store/logs/logText.js'
import type { IdRange, RowFilter } from '../store/logs/rowFilter.js'
import type { CandidateBatch, LogIndex, SearchOptions } from './candidateIndex.js'
import { readsAllRows } from './planner.js'

/** What the index said at a first look. */
export interface FirstLook {
  /** All candidates, where they are at most as many as asked for: no more results are possible. */
  all?: number[]
  /** The index, which does not look again for what it has found. */
  index: LogIndex
}

/** Asks the index for candidates until there are more than `most`. Filters for which it is not asked, and
 *  those with long lists of values, are left as they are. To be called inside the snapshot of the query. @throws DeadlineExceeded */
export function lookAhead(
  index: LogIndex,
  filter: RowFilter,
  { range, most, ...search }: SearchOptions & { range: IdRange; most: number },
): FirstLook {
  if (readsAllRows(filter, range) || !canCheck(filter)) return { index }
  search.trace?.plan('index')
  const rest = index.candidates(filter, range, search)[Symbol.iterator]()
  const read: CandidateBatch[] = []
  const ids: number[] = []
  while (ids.length <= most) {
    const { done, value } = rest.next()
    if (done) return { all: ids, index: { ...index, candidates: () => read } }
    read.push(value)
    for (const id of value.ids) ids.push(id)
  }
  function* candidates() {
    yield* read
    for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
  }
  return { index: { ...index, candidates } }
}
