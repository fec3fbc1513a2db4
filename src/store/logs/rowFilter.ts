/** The columns that a filter may name; topic columns by position. */
export type ClauseColumn = 'address_id' | 'topic0_id' | 'topic1' | 'topic2' | 'topic3'

/** Log ids [from, to): the first inclusive, the second not. */
export interface IdRange {
  from: number
  to: number
}

/** One condition of a filter in the form of the rows: the column holds one of the keys. Keys are dictionary ids for
 *  `address_id` and `topic0_id`, bytes without leading zeros for the others; none is there twice. */
export interface Clause {
  column: ClauseColumn
  keys: (number | Uint8Array)[]
  /** The same as full values: addresses of 20 bytes, topics with or without their leading zeros. */
  values: Uint8Array[]
}

/** A filter in the form of the rows. */
export interface RowFilter {
  clauses: Clause[]
  /** The least number of topics. */
  minTopics: number
}

/** The column that is not null in a row with at least so many topics. */
export const PRESENCE = ['id', 'topic0_id', 'topic1', 'topic2', 'topic3'] as const
