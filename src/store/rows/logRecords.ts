import type { Statement } from 'better-sqlite3'
import { MAX_RECORD_DATA, RECORD_NUMBERS } from '../../wasm/logRecordCode.js'
import type { Database } from '../database.js'
import { selectBlockOfLog } from './blockOfLog.js'
import { type ClauseColumn, type IdRange, PRESENCE, type RowFilter } from './rowFilter.js'

/** Reads records faster than SQL where it can. */
export interface LogRecordSource {
  /** Records of all logs with ids in the range, the same bytes as `ofRange` without conditions; undefined where they
   *  must be read by SQL. Valid until the next call. */
  read(range: IdRange): Uint8Array | undefined
}

/** Reads the records of logs, which index/logs/logJson encodes as JSON, each by one statement. */
interface LogRecordReader {
  /** Records of the logs with these ids, in their order, whatever the length of their data. */
  byIds(ids: readonly number[]): Uint8Array
  /** Records of those of the ids that the filter wants, in their order. None of a log with long data. */
  ofCandidates(ids: readonly number[], filter: RowFilter): Uint8Array
  /** Records of the logs with ids in the range that the filter wants, by id. None of a log with long data. Undefined
   *  when blocks of the range are missing. */
  ofRange(range: IdRange, filter: RowFilter): Uint8Array | undefined
}

/** Maximum number of values in a clause of a filter that SQLite checks. */
export const MAX_CHECKED_KEYS = 16

// Preparing a statement takes 0.1 ms.
const MAX_STATEMENTS = 64

type Row = [bytes: Uint8Array | null, covered?: number]

/** Creates a reader through statements prepared once for the connection and the shape of a filter. A filter may have up
 *  to `MAX_CHECKED_KEYS` values in each clause, and none without values. `pages` is of the same connection. */
export function createLogRecordReader(db: Database, pages?: LogRecordSource): LogRecordReader {
  const statements = new Map<string, Statement<unknown[], Row>>()
  const prepare = (sql: string) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = db.prepare<unknown[], Row>(sql).raw()
      // Clients choose the shape.
      if (statements.size === MAX_STATEMENTS) statements.clear()
      statements.set(sql, statement)
    }
    return statement
  }
  const read = (sql: string, values: unknown[]): Uint8Array => prepare(sql).get(...values)![0] ?? NO_RECORDS
  return {
    byIds: (ids) => read(SELECT_BY_IDS, [JSON.stringify(ids)]),
    ofCandidates: (ids, filter) => read(selectCandidates(filter), [JSON.stringify(ids), ...keysOf(filter)]),
    ofRange: ({ from, to }, filter) => {
      const found = isOfAll(filter) ? pages?.read({ from, to }) : undefined
      if (found !== undefined) return found
      const [bytes, covered] = prepare(selectRange(filter)).get(...keysOf(filter), { from, to })!
      return covered === to - from ? (bytes ?? NO_RECORDS) : undefined
    },
  }
}

/** True for a filter without conditions. */
function isOfAll({ clauses, minTopics }: RowFilter): boolean {
  return clauses.length === 0 && minTopics === 0
}

const NO_RECORDS = new Uint8Array(0)

/* A record: numbers as code points of UTF-8, hashes of block and transaction, topics 1 to 3 and data as they are
   stored. SQLite finds the rows and packs hundreds of records into one value; WebAssembly makes the JSON. Numbers by
   `char` take 0.3 µs a log, by `printf` 0.5. JSON written by SQLite's printf took 3.6 µs, rows with a Buffer for each
   cell 4.5. */
const pair = (value: string) => `${value} >> 20, ${value} & 1048575`
const LOG_NUMBERS = `l.id - b.first_log, l.tx_index, ${pair('l.address_id')}, ${pair('l.topic0_id')},
  length(l.topic1) + 1, length(l.topic2) + 1, length(l.topic3) + 1, length(l.data), l.data_length + 1`
const BLOCK_NUMBERS = `${RECORD_NUMBERS.blockFlag} | (b.number >> 20), b.number & 1048575, ${pair('b.timestamp')}`
const LOG_BYTES = `t.hash || ifnull(l.topic1, '') || ifnull(l.topic2, '') || ifnull(l.topic3, '') || l.data`

const LOG_WITH_BLOCK = `char(${BLOCK_NUMBERS}, ${LOG_NUMBERS}) || b.hash || ${LOG_BYTES}`
const LOG_WITHOUT_BLOCK = `char(${LOG_NUMBERS}) || ${LOG_BYTES}`
/** SQL of the record of a block `b`. */
export const BLOCK_ONLY = `char(${BLOCK_NUMBERS}, ${RECORD_NUMBERS.blockOnly}) || b.hash`
const NO_RECORD = `char(${RECORD_NUMBERS.noRecord})`
/** SQL for a block `b`. The last log indexes of such a block would be read as those of a block record. */
export const IS_CROWDED = `b.n_logs >= ${RECORD_NUMBERS.noRecord}`
const IS_LONG = `l.data_length > ${MAX_RECORD_DATA}`

/* SQLite keeps the order of the subquery, because group_concat depends on it. An ORDER BY inside group_concat would
   sort the records (0.8 µs a log). */
const concatenate = (rows: string) => `SELECT group_concat(record, '') FROM (${rows})`

const blockOf = (logId: string) => `(${selectBlockOfLog(logId)})`
const JOIN_TRANSACTION = 'LEFT JOIN transactions t ON t.id = b.first_tx + l.tx_index'

// json_each is ordered by its rowid, and the planner knows it. The joins are outer: a log that lacks its block or
// transaction is not left out in silence.
const selectByIds = (record: string, conditions: string) =>
  `SELECT CAST((${concatenate(
    `SELECT ifnull(${record}, ${NO_RECORD}) AS record
   FROM json_each(?) wanted CROSS JOIN logs l ON l.id = wanted.value ${conditions}
   LEFT JOIN blocks b ON b.number = ${blockOf('l.id')} ${JOIN_TRANSACTION} ORDER BY wanted.rowid`,
  )}) AS BLOB)`
const SELECT_BY_IDS = selectByIds(`iif(${IS_CROWDED}, NULL, ${LOG_WITH_BLOCK})`, '')
const selectCandidates = (filter: RowFilter) =>
  selectByIds(`iif(${IS_LONG} OR ${IS_CROWDED}, NULL, ${LOG_WITH_BLOCK})`, conditionsOf(filter))

/** SQL for the blocks `b` with logs whose ids are in [@from, @to). */
export const BLOCKS_OF_RANGE = `FROM blocks b
  WHERE b.n_logs > 0 AND b.first_log < @to AND b.first_log >=
    (${selectBlockOfLog('@from', 'first_log')})`

/** Selects block by block, which takes 0.5 µs a log less than looking up the block of each. NOT INDEXED: only the ids
 *  bound the work; rows of a partial index on a topic would have to be sorted. */
function selectRange(filter: RowFilter): string {
  const logs = `SELECT ifnull(iif(${IS_LONG}, NULL, ${LOG_WITHOUT_BLOCK}), ${NO_RECORD}) AS record
    FROM logs l NOT INDEXED ${JOIN_TRANSACTION}
    WHERE l.id >= max(b.first_log, @from) AND l.id < min(b.first_log + b.n_logs, @to) ${conditionsOf(filter)}
    ORDER BY l.id`
  const blocks = `SELECT iif(${IS_CROWDED}, ${NO_RECORD}, ${BLOCK_ONLY} || (${concatenate(logs)})) AS record
    ${BLOCKS_OF_RANGE} ORDER BY b.first_log`
  return `SELECT CAST((${concatenate(blocks)}) AS BLOB),
    (SELECT sum(min(b.first_log + b.n_logs, @to) - max(b.first_log, @from)) ${BLOCKS_OF_RANGE})`
}

/** The conditions of the filter on `l`, each with AND before it. */
function conditionsOf({ clauses, minTopics }: RowFilter): string {
  const ofClauses = clauses.map(({ column, keys }) => `AND ${conditionOf(column, placesFor(keys.length))}`)
  return [...ofClauses, `AND l.${PRESENCE[minTopics]} IS NOT NULL`].join(' ')
}

function conditionOf(column: ClauseColumn, places: number): string {
  return places === 1 ? `l.${column} = ?` : `l.${column} IN (${Array(places).fill('?').join(', ')})`
}

/** 1, 4 or 16: few statements serve lists of any length. */
function placesFor(keys: number): number {
  return keys === 1 ? 1 : keys <= 4 ? 4 : MAX_CHECKED_KEYS
}

/** The values of the places; surplus places repeat the first value. */
function keysOf({ clauses }: RowFilter): (number | Uint8Array)[] {
  return clauses.flatMap(({ keys }) => Array.from({ length: placesFor(keys.length) }, (_, i) => keys[i] ?? keys[0]))
}
