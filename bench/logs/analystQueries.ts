/** A question of an analyst: on the views of the database, and in DuckDB on the exported files, whose views have the
 *  names of their datasets. Both answers have the same rows. */
export interface AnalystQuery {
  readonly name: string
  readonly sqlite: string
  readonly duckdb: string
}

const hex = (column: string) => `'0x' || lower(hex(${column}))`
const SQLITE_DAY = "date(timestamp, 'unixepoch')"
const DUCKDB_DAY = (column: string) => `strftime(make_timestamp(${column}::BIGINT * 1000000), '%Y-%m-%d')`
/** The token with most transfers. */
const SQLITE_TOKEN = '(SELECT address FROM v_erc20_transfers GROUP BY address ORDER BY count(*) DESC, address LIMIT 1)'
const DUCKDB_TOKEN = '(SELECT erc20 FROM erc20_transfers GROUP BY erc20 ORDER BY count(*) DESC, erc20 LIMIT 1)'

export const ANALYST_QUERIES: readonly AnalystQuery[] = [
  {
    name: 'top tokens by transfers',
    sqlite: 'SELECT address, count(*) AS n FROM v_erc20_transfers GROUP BY address ORDER BY n DESC, address LIMIT 10',
    duckdb: `SELECT ${hex('erc20')}, count(*) AS n FROM erc20_transfers GROUP BY erc20 ORDER BY n DESC, erc20 LIMIT 10`,
  },
  {
    name: 'daily active addresses',
    sqlite: `SELECT day, count(DISTINCT account) FROM (
      SELECT ${SQLITE_DAY} AS day, "from" AS account FROM v_erc20_transfers
      UNION ALL SELECT ${SQLITE_DAY}, "to" FROM v_erc20_transfers) GROUP BY day ORDER BY day`,
    duckdb: `SELECT day, count(DISTINCT account) FROM (
      SELECT ${DUCKDB_DAY('block_timestamp')} AS day, unnest([from_address, to_address]) AS account FROM erc20_transfers)
      GROUP BY day ORDER BY day`,
  },
  {
    name: 'holders of a token from its transfers',
    sqlite: `WITH moved AS MATERIALIZED (
        SELECT "from", "to", CAST(value AS REAL) AS value FROM v_erc20_transfers WHERE address = ${SQLITE_TOKEN})
      SELECT account, sum(value) AS balance FROM (
        SELECT "to" AS account, value FROM moved UNION ALL SELECT "from", -value FROM moved)
      GROUP BY account HAVING balance > 0 ORDER BY balance DESC, account LIMIT 100`,
    duckdb: `WITH moved AS (SELECT from_address, to_address, value_f64 FROM erc20_transfers WHERE erc20 = ${DUCKDB_TOKEN})
      SELECT ${hex('account')}, sum(value) AS balance FROM (
        SELECT to_address AS account, value_f64 AS value FROM moved UNION ALL SELECT from_address, -value_f64 FROM moved)
      GROUP BY account HAVING balance > 0 ORDER BY balance DESC, account LIMIT 100`,
  },
  {
    name: 'largest transfers of a token',
    sqlite: `SELECT block_number, log_index, CAST(value AS REAL) AS amount FROM v_erc20_transfers
      WHERE address = ${SQLITE_TOKEN} ORDER BY amount DESC, block_number, log_index LIMIT 20`,
    duckdb: `SELECT block_number, log_index, value_f64 AS amount FROM erc20_transfers
      WHERE erc20 = ${DUCKDB_TOKEN} ORDER BY amount DESC, block_number, log_index LIMIT 20`,
  },
  {
    name: 'pairs of addresses that pay each other most',
    sqlite: `SELECT "from", "to", count(*) AS n FROM v_erc20_transfers
      GROUP BY "from", "to" ORDER BY n DESC, "from", "to" LIMIT 20`,
    duckdb: `SELECT ${hex('from_address')}, ${hex('to_address')}, count(*) AS n FROM erc20_transfers
      GROUP BY from_address, to_address ORDER BY n DESC, from_address, to_address LIMIT 20`,
  },
  {
    name: 'new recipients by day',
    sqlite: `SELECT day, count(*) FROM (SELECT "to", min(${SQLITE_DAY}) AS day FROM v_erc20_transfers GROUP BY "to")
      GROUP BY day ORDER BY day`,
    duckdb: `SELECT ${DUCKDB_DAY('first')} AS day, count(*) FROM (
      SELECT to_address, min(block_timestamp) AS first FROM erc20_transfers GROUP BY to_address) GROUP BY day ORDER BY day`,
  },
  {
    name: 'gas by contract',
    sqlite: `SELECT "to", sum(gas_used) AS gas, count(*) FROM v_receipts WHERE "to" IS NOT NULL
      GROUP BY "to" ORDER BY gas DESC, "to" LIMIT 20`,
    duckdb: `SELECT ${hex('to_address')}, sum(gas_used) AS gas, count(*) FROM receipts WHERE to_address IS NOT NULL
      GROUP BY to_address ORDER BY gas DESC, to_address LIMIT 20`,
  },
  {
    name: 'most frequent events',
    sqlite:
      'SELECT topic0, count(*) AS n FROM v_logs WHERE topic0 IS NOT NULL GROUP BY topic0 ORDER BY n DESC, topic0 LIMIT 20',
    duckdb: `SELECT ${hex('topic0')}, count(*) AS n FROM logs WHERE topic0 IS NOT NULL
      GROUP BY topic0 ORDER BY n DESC, topic0 LIMIT 20`,
  },
  {
    name: 'contracts with most kinds of events',
    sqlite:
      'SELECT address, count(DISTINCT topic0) AS kinds FROM v_logs GROUP BY address ORDER BY kinds DESC, address LIMIT 20',
    duckdb: `SELECT ${hex('address')}, count(DISTINCT topic0) AS kinds FROM logs
      GROUP BY address ORDER BY kinds DESC, address LIMIT 20`,
  },
  {
    name: 'transactions, senders and calldata by day',
    sqlite: `SELECT ${SQLITE_DAY} AS day, count(*), count(DISTINCT "from"), sum((length(input) - 2) / 2)
      FROM v_transactions GROUP BY day ORDER BY day`,
    duckdb: `SELECT ${DUCKDB_DAY('timestamp')} AS day, count(*), count(DISTINCT from_address), sum(n_input_bytes)
      FROM transactions GROUP BY day ORDER BY day`,
  },
]
