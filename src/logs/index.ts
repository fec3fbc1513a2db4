import type { Deadline } from '../lib/deadline.js'

/** Log ids [from, to): the first inclusive, the second not. */
export interface IdRange {
  from: number
  to: number
}

/** The columns that a filter may name; topic columns by position. */
export type ClauseColumn = 'address_id' | 'topic0_id' | 'topic1' | 'topic2' | 'topic3'

/** One condition of a filter in the form of the rows: the column holds one of the keys. Keys are dictionary ids for
 *  `address_id` and `topic0_id`, bytes without leading zeros for the others; none is there twice. */
export interface Clause {
  column: ClauseColumn
  keys: (number | Uint8Array)[]
}

/** A filter in the form of the rows. */
export interface RowFilter {
  clauses: Clause[]
  /** The least number of topics. */
  minTopics: number
}

/** The way from clauses to candidate rows. Every log that meets all clauses is among the candidates; a candidate need
 *  not meet them. */
export interface LogIndex {
  /** How many logs in the range meet the clause, counted up to `limit`. @throws DeadlineExceeded */
  count(clause: Clause, range: IdRange, bounds: { limit: number; deadline: Deadline }): number
  /** Candidate ids in the range in ascending batches, none twice. `clauses` is not empty. @throws DeadlineExceeded */
  candidates(clauses: Clause[], range: IdRange, deadline: Deadline): Iterable<number[]>
}
