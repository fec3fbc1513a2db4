import type { Deadline } from '../lib/deadline.js'
import type { IdRange, RowFilter } from '../store/logs/rowFilter.js'
import type { LogTrace } from './trace.js'

/** Candidates on the way through a range. */
export interface CandidateBatch {
  /** Ascending, and above those of the batch before. May be empty. */
  ids: number[]
  /** All candidates below this id were given, with this batch. */
  next: number
}

/** What goes along with a search. */
export interface SearchOptions {
  deadline: Deadline
  /** Where it says what it does, when someone wants to know. */
  trace?: LogTrace
}

/** The way from a filter to candidate rows. Every log that the filter wants is among the candidates; a candidate need
 *  not be wanted. */
export interface LogIndex {
  /** Candidate ids in the range, the last batch with the end of the range. The filter has a clause, or asks for topics.
   *  To be called inside the snapshot that the rows are read from. @throws DeadlineExceeded */
  candidates(filter: RowFilter, range: IdRange, options: SearchOptions): Iterable<CandidateBatch>
  /** Does a slice of about 10 ms of what the first search would have to do, when there are `logCount` logs; true when
   *  there is more. To be called inside a snapshot. */
  warm(logCount: number): boolean
}
