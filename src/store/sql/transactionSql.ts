/** Columns of the place of a transaction. */
export const PLACE_OF_TRANSACTION = `b.number AS block_number, b.timestamp AS timestamp,
  t.id - b.first_tx AS transaction_index, '0x' || lower(hex(t.hash)) AS transaction_hash`

/** Transactions `t` with their block `b`. NOT INDEXED: else a condition such as `type = 2` has SQLite make an index of
 *  the whole table for each query. */
export const JOINED_TRANSACTIONS = `FROM blocks b CROSS JOIN transactions t NOT INDEXED
  ON t.id >= b.first_tx AND t.id < b.first_tx + b.n_tx`
