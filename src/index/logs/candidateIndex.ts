import type { Deadline } from '../../lib/deadline.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import type { LogTrace } from './trace.js'

/** A batch of candidates of an id range. */
export interface CandidateBatch {
  /** Ascending, above those of the previous batch. May be empty. */
  ids: number[]
  /** All candidates below this id are in this batch or earlier ones. */
  next: number
}

/** Options of a search. */
export interface SearchOptions {
  deadline: Deadline
  /** Trace of the query, if wanted. */
  trace?: LogTrace
}

/** Finds candidate rows for a filter. Every matching log is a candidate; a candidate need not match. */
export interface LogIndex {
  /** Batches of candidate ids in the range; the last one ends at the end of the range. The filter must have a clause or
   *  require topics. Call it in the snapshot the rows are read from. @throws DeadlineExceeded */
  candidates(filter: RowFilter, range: IdRange, options: SearchOptions): Iterable<CandidateBatch>
  /** Does about 10 ms of the work that the first search would otherwise do, for a chain of `logCount` logs. True if
   *  more is left. Call it in a snapshot. */
  warm(logCount: number): boolean
}
