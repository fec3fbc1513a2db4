import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import type { CandidateBatch, LogIndex, SearchOptions } from './candidateIndex.js'
import { canCheck } from './logText.js'
import { readsAllRows } from './planner.js'

/** Result of a first look-up in the index. */
interface FirstLook {
  /** All candidates, when there are at most as many as requested; the query then has no other results. */
  all?: number[]
  /** The index; candidates found already are not searched again. */
  index: LogIndex
}

/** Searches the index until there are more than `most` candidates. Does nothing for filters that do not use the index
 *  or have long value lists. Call it in the snapshot of the query. @throws DeadlineExceeded */
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
