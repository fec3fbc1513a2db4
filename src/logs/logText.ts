import type { Deadline } from '../lib/deadline.js'
import { memoize } from '../lib/memoize.js'
import type { Database } from '../store/database.js'
import type { RowFilter } from './rowFilter.js'
import { type LogRow, PRESENCE } from './scan.js'

/** The logs of an answer as the JSON text that is sent. */
export interface LogTexts {
  /** How many logs. */
  count: number
  /** Texts of one or more logs each, joined by commas, in order. Joined by commas they are the inside of the array. */
  parts: Buffer[]
}

/** Length in bytes of the JSON array of the logs. */
export function arrayBytesOf({ parts }: LogTexts): number {
  return parts.reduce((sum, part) => sum + part.length, Math.max(0, parts.length - 1) + 2)
}

/** What one statement writes at most. */
export interface TextBatch {
  logs: number
  /** Data of the logs, in bytes; a log with more is alone. */
  dataBytes: number
}

// 330 KB of typical logs, 2 ms between looks at the deadline. With much data 8 MB of hex, or one log of any length that fits
// into a block: far below the 1 GB that SQLite allows a text.
const BATCH: TextBatch = { logs: 500, dataBytes: 4_000_000 }

/** Writes the logs of the rows, in their order, as the contract's objects: the same bytes as `JSON.stringify`
 *  of `formatLog` in logObject.
 *  @throws DeadlineExceeded, looked at before each statement */
export type LogWriter = (rows: readonly LogRow[], options: { deadline: Deadline }) => LogTexts

/** A writer through one statement, prepared once for the connection.
 *
 *  SQLite writes the text, not we: columns, hashes and blocks of scattered logs would each become a JavaScript value only
 *  to be copied into the text. One Buffer for hundreds of logs comes out instead: 3.8 µs of processor time a log, of which
 *  2 µs find the rows of log, block and transaction. A query for 8,860 scattered logs took 8.5 µs a log the other way, with
 *  the garbage, and takes 5.4 so. */
export function createLogWriter(db: Database, batch: TextBatch = BATCH): LogWriter {
  const write = db.prepare<[string], [written: number, text: Buffer]>(WRITE_LOGS).raw()
  return (rows, { deadline }) => {
    const parts: Buffer[] = []
    for (let from = 0; from < rows.length; ) {
      deadline.check()
      const to = endOfBatch(rows, from, batch)
      const ids: number[] = []
      for (let i = from; i < to; i++) ids.push(rows[i][0])
      const [written, text] = write.get(JSON.stringify(ids)) as unknown as [number, Buffer]
      // A join leaves out what lacks its other half: never an answer with fewer logs.
      if (written !== ids.length) throw new Error(`logs from ${ids[0]} on lack their block, transaction or address`)
      parts.push(text)
      from = to
    }
    return { count: rows.length, parts }
  }
}

/** Writes those of the candidates that the filter wants, in one go: their rows are looked for once instead of twice. The
 *  filter asks for one value at most in each place.
 *  @returns undefined when the rows are to be looked at first: there are long data among them, or something is missing
 *  @throws DeadlineExceeded, looked at before each statement */
export type CandidateWriter = (
  ids: readonly number[],
  filter: RowFilter,
  options: { deadline: Deadline },
) => LogTexts | undefined

/** A writer through a statement for each set of columns that filters name. */
export function createCandidateWriter(db: Database): CandidateWriter {
  const prepare = memoize((conditions: string) => db.prepare(writeWanted(conditions)).raw())
  return (ids, { clauses, minTopics }, { deadline }) => {
    const conditions = [...clauses.map(({ column }) => `l.${column} = ?`), `l.${PRESENCE[minTopics]} IS NOT NULL`]
    const values = clauses.map(({ keys }) => keys[0])
    const write = prepare(conditions.join(' AND '))
    const texts: LogTexts = { count: 0, parts: [] }
    for (let from = 0; from < ids.length; from += BATCH.logs) {
      deadline.check()
      const batch = JSON.stringify(ids.slice(from, from + BATCH.logs))
      const [count, written, text] = write.get(batch, ...values) as [number, number, Buffer | null]
      if (written < count) return undefined
      texts.count += count
      if (text !== null) texts.parts.push(text)
    }
    return texts
  }
}

function endOfBatch(rows: readonly LogRow[], from: number, { logs, dataBytes }: TextBatch): number {
  const limit = Math.min(rows.length, from + logs)
  let held = rows[from][1]
  let to = from + 1
  while (to < limit && held + rows[to][1] <= dataBytes) held += rows[to++][1]
  return to
}

/* The statement. Few functions with many arguments each, because every call costs: a `printf` for all of a log up to its
   data, with one `lower` around it (names are lower case until there), and one for the rest. */

const WORD_ZEROS = `'${'0'.repeat(64)}'`
const MISSING_DATA = '(ifnull(l.data_length, 32) - length(l.data))'

/** What `%s` or `%.*s%s` takes: zeros before it, cut to so many digits, and the hex. */
const topicArguments = [
  'hex(z.topic)',
  ...['l.topic1', 'l.topic2', 'l.topic3'].map((topic) => `64 - 2 * length(${topic}), ${WORD_ZEROS}, hex(${topic})`),
]
const topicFormats = ['"0x%s"', '"0x%.*s%s"', '"0x%.*s%s"', '"0x%.*s%s"']

/** The text of a log with so many topics up to the end of its data, upper-case digits in it. */
function beginLog(topicCount: number): string {
  const topics = topicFormats.slice(0, topicCount).join(',')
  const values = [
    'hex(a.address)',
    ...topicArguments.slice(0, topicCount),
    `2 * ${MISSING_DATA}, iif(${MISSING_DATA} <= 32, ${WORD_ZEROS}, hex(zeroblob(${MISSING_DATA}))), hex(l.data)`,
  ]
  return `printf('{"address":"0x%s","topics":[${topics}],"data":"0x%.*s%s', ${values.join(', ')})`
}

const BEGIN_LOG = `lower(CASE
  WHEN l.topic3 IS NOT NULL THEN ${beginLog(4)}
  WHEN l.topic2 IS NOT NULL THEN ${beginLog(3)}
  WHEN l.topic1 IS NOT NULL THEN ${beginLog(2)}
  WHEN l.topic0_id IS NOT NULL THEN ${beginLog(1)}
  ELSE ${beginLog(0)} END)`

/** The rest of a log, its block's time written by a format with its arguments. */
function endLog(timeFormat: string, time: string): string {
  const format =
    '","blockNumber":"0x%x","transactionHash":"0x%s","transactionIndex":"0x%x","blockHash":"0x%s",' +
    `"blockTimestamp":"0x${timeFormat}","logIndex":"0x%x","removed":false}`
  return `printf('${format}', b.number,
  lower(hex(t.hash)), l.tx_index,
  lower(hex(b.hash)), ${time}, l.id - b.first_log)`
}

// A time beyond 2^53 - 1 is decimal text, up to 2^64 - 1. Its digits before the last nine, `a`, and those make
// (a >> 16) * 10^9 * 2^16 + (a & 65535) * 10^9 + rest, of which all parts but the sum are below 2^63: so it is written in two
// parts, the last 16 bits apart.
const HIGH_DIGITS = 'CAST(substr(b.timestamp, 1, length(b.timestamp) - 9) AS INTEGER)'
const LOW_PART = `((${HIGH_DIGITS} & 65535) * 1000000000 + CAST(substr(b.timestamp, -9) AS INTEGER))`
const LARGE_TIME = `(${HIGH_DIGITS} >> 16) * 1000000000 + (${LOW_PART} >> 16), ${LOW_PART} & 65535`

const END_LOG = `iif(b.timestamp <= 9007199254740991, ${endLog('%x', 'b.timestamp')}, ${endLog('%x%04x', LARGE_TIME)})`

/** Where a log's block is: the last one with logs whose first is not behind it. */
const BLOCK_OF_LOG = `b.number = (
    SELECT number FROM blocks WHERE n_logs > 0 AND first_log <= l.id ORDER BY first_log DESC LIMIT 1)`

// Joined, since a subquery opens its table anew for each log (0.6 µs more). json_each gives the ids in the order of its
// rowids by itself, as it tells the planner; `ORDER BY l.id` and an ORDER BY in group_concat would sort the texts (0.8 µs
// more). The ORDER BY of a subquery holds, because SQLite knows that group_concat depends on it.
const WRITE_LOGS = `SELECT count(*), CAST(group_concat(text, ',') AS BLOB) FROM (
  SELECT ${BEGIN_LOG} || ${END_LOG} AS text
  FROM json_each(?) wanted
  CROSS JOIN logs l ON l.id = wanted.value
  CROSS JOIN blocks b ON ${BLOCK_OF_LOG}
  CROSS JOIN transactions t ON t.id = b.first_tx + l.tx_index
  CROSS JOIN addresses a ON a.id = l.address_id
  LEFT JOIN topics z ON z.id = l.topic0_id
  ORDER BY wanted.rowid)`

// Data of a log up to which it is written with others unseen: 500 of them are 8 MB of text.
const SHORT_DATA = 8_192

/** The same of those logs that meet conditions on `l`. The text is NULL of a log with long data, and of one that lacks its
 *  block, transaction or address: an outer join keeps it. */
function writeWanted(conditions: string): string {
  return `SELECT count(*), count(text), CAST(group_concat(text, ',') AS BLOB) FROM (
    SELECT iif(ifnull(l.data_length, 32) <= ${SHORT_DATA} AND t.hash IS NOT NULL AND a.address IS NOT NULL,
      ${BEGIN_LOG} || ${END_LOG}, NULL) AS text
    FROM json_each(?) wanted
    CROSS JOIN logs l ON l.id = wanted.value AND ${conditions}
    LEFT JOIN blocks b ON ${BLOCK_OF_LOG}
    LEFT JOIN transactions t ON t.id = b.first_tx + l.tx_index
    LEFT JOIN addresses a ON a.id = l.address_id
    LEFT JOIN topics z ON z.id = l.topic0_id
    ORDER BY wanted.rowid)`
}
