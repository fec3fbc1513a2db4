/** Columns of the place of a log. */
export const PLACE_OF_LOG = `b.number AS block_number, b.timestamp AS timestamp, l.tx_index AS transaction_index,
  '0x' || lower(hex(t.hash)) AS transaction_hash, l.id - b.first_log AS log_index`

/** Logs `l` with their block `b`, transaction `t`, address `a` and first topic `z`. Conditions on ids have a `+`: see
 *  the view in migrations/0000_first.sql. NOT INDEXED: see `JOINED_TRANSACTIONS`. */
export const JOINED_LOGS = `FROM blocks b CROSS JOIN logs l NOT INDEXED ON l.id >= b.first_log AND l.id < b.first_log + b.n_logs
  JOIN transactions t NOT INDEXED ON t.id = b.first_tx + l.tx_index JOIN addresses a ON a.id = l.address_id
  LEFT JOIN topics z ON z.id = l.topic0_id`
