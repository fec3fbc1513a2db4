/** The columns a filter may name; topics by position. */
export type ClauseColumn = 'address_id' | 'topic0_id' | 'topic1' | 'topic2' | 'topic3'

/** Log ids [from, to): `from` inclusive, `to` exclusive. */
export interface IdRange {
  from: number
  to: number
}

/** One condition of a row filter: the column equals one of the keys. Keys are dictionary ids for `address_id` and
 *  `topic0_id`, otherwise bytes without leading zeros; without duplicates. */
export interface Clause {
  column: ClauseColumn
  keys: (number | Uint8Array)[]
  /** The keys as full values: 20-byte addresses, topics with or without their leading zeros. */
  values: Uint8Array[]
}

/** A log filter in terms of the stored rows. */
export interface RowFilter {
  clauses: Clause[]
  /** Minimum number of topics. */
  minTopics: number
}

/** The column that is not null in every row with at least this many topics. */
export const PRESENCE = ['id', 'topic0_id', 'topic1', 'topic2', 'topic3'] as const
