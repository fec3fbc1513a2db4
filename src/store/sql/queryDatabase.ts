import { bytesToBigInt, padLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../database.js'
import { openForReading } from '../open.js'
import { decodeAccountKeys, visitSlotKeys } from '../state/changedKeys.js'
import { addAmountFunctions } from './amountFunctions.js'
import { addBodyViews } from './bodyViews.js'
import { addCallViews, type CallDecoding, noCallDecoding } from './callViews.js'
import { addHashFunctions } from './hashFunctions.js'
import { JOINED_LOGS, PLACE_OF_LOG } from './logSql.js'
import { secondConnection } from './secondConnection.js'
import { addStateViews } from './stateViews.js'
import { addTokenViews, type TokenSql } from './tokenViews.js'
import { addTraceViews } from './traceViews.js'

/** An event that has a view. */
export interface EventView {
  /** `v_event_…` */
  readonly name: string
  /** Columns of the arguments. */
  readonly columns: readonly string[]
  readonly topic0: Uint8Array | undefined // 32; undefined: anonymous
  /** Number of topics of its logs, including topic0. */
  readonly topicCount: number
  readonly address: Uint8Array | undefined // 20; undefined: any contract
  /** Values by column: text, addresses in lower case, or 0 and 1. Null for a log of another event. */
  decode(log: {
    address: Uint8Array
    topics: readonly Uint8Array[]
    data: Uint8Array
  }): readonly (string | number)[] | null
}

/** Names of tables, views and columns, for completion: rows (name, column). */
export const CATALOGUE_QUERY = `SELECT s.name AS name, c.name AS column
  FROM (SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') UNION SELECT name FROM sqlite_temp_schema WHERE type = 'view') s,
  pragma_table_info(s.name) c
  WHERE s.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND s.name NOT LIKE '!_!_%' ESCAPE '!' ORDER BY s.name, c.cid`

/** The tables and views of a connection, each with each of its columns. */
export function readCatalogue(db: Database): [table: string, column: string][] {
  return db.prepare<[], [table: string, column: string]>(CATALOGUE_QUERY).raw().all()
}

/** The names of the functions of a connection. */
export function readFunctionNames(db: Database): string[] {
  return db.prepare<[], string>('SELECT DISTINCT name FROM pragma_function_list').pluck().all()
}

/** The query that shows the definition of a table or view, or of all: rows (sql). */
export function schemaQuery(name: string | undefined): string {
  const wanted = name === undefined ? '' : ` AND lower(name) = lower('${name.replaceAll("'", "''")}')`
  return `SELECT sql FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'${wanted} ORDER BY type DESC, name`
}

/** Opens the database of `datadir` read-only for SQL of users: with a view per event, views of lists in blocks and
 *  transactions, of calls, of the state and, with `tokens`, of tokens. Addresses are in lower case in all views, as in
 *  any SQLite shell: the same join has the same rows everywhere. Views are temporary: they use functions that only this
 *  connection has. @throws DatabaseMissing, DatabaseOutdated */
export function openForQueries(
  datadir: string,
  readEvents: (db: Database) => readonly EventView[],
  { calls = noCallDecoding, tokens }: { calls?: CallDecoding; tokens?: TokenSql } = {},
): Database {
  const db = openForReading(datadir)
  const getSecond = secondConnection(db, datadir)
  try {
    const events = readEvents(db)
    addFunctions(db, events)
    addAmountFunctions(db)
    addHashFunctions(db)
    addBodyViews(db)
    addCallViews(db, calls)
    addStateViews(db, getSecond)
    if (tokens !== undefined) addTokenViews(db, tokens)
    addTraceViews(db, getSecond)
    for (const sql of [ERC20_TRANSFERS, ...events.map(eventView)]) db.exec(sql)
    db.pragma('query_only = 1')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function addFunctions(db: Database, events: readonly EventView[]): void {
  const options = { deterministic: true }
  db.function('cairn_address', options, (bytes: Uint8Array) => formatData(padLeft(bytes, 20)))
  db.function('cairn_uint', options, (bytes: Uint8Array) => bytesToBigInt(bytes).toString())
  db.table('cairn_changed_accounts', {
    columns: ['address_id'],
    parameters: ['keys'],
    rows: function* (keys: unknown) {
      for (const id of decodeAccountKeys(keys as Uint8Array)) yield [id]
    },
  })
  db.table('cairn_changed_slots', {
    columns: ['address_id', 'incarnation', 'slot'],
    parameters: ['keys'],
    rows: function* (keys: unknown) {
      const slots: [number, number, Uint8Array][] = []
      visitSlotKeys(keys as Uint8Array, (...key) => slots.push(key))
      yield* slots
    },
  })
  // SQLite requests each column of a row in turn: the last log is kept.
  let last: { event: number; log: number; values: readonly (string | number)[] | null } | undefined
  const read = (event: number, log: number, row: readonly (Uint8Array | number | null)[]) => {
    if (last === undefined || last.log !== log || last.event !== event) {
      const { topics, address, data } = logOfRow(row)
      last = { event, log, values: events[event].decode({ topics, address, data }) }
    }
    return last.values
  }
  db.function(
    'cairn_event',
    { varargs: true },
    (event: number, column: number, log: number, ...row: (Uint8Array | number | null)[]) => {
      const values = read(event, log, row)
      if (column < 0) return values === null ? 0 : 1
      return values === null ? null : values[column]
    },
  )
}

/** The log of a row (address, topic0 to topic3, data, data_length) as it is stored, without leading zero bytes. */
function logOfRow([address, topic0, topic1, topic2, topic3, data, length]: readonly (Uint8Array | number | null)[]) {
  const topics = [topic0, topic1, topic2, topic3].filter((topic) => topic !== null) as Uint8Array[]
  return {
    address: address as Uint8Array,
    topics: topics.map((topic) => padLeft(topic, 32)),
    data: padLeft(data as Uint8Array, (length as number | null) ?? 32),
  }
}

const PLACE = `${PLACE_OF_LOG}, cairn_address(a.address) AS address`
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** As in migrations/0000_first.sql; its own decimals are ten times as fast. */
const ERC20_TRANSFERS = `CREATE TEMP VIEW v_erc20_transfers AS SELECT ${PLACE},
  cairn_address(l.topic1) AS "from", cairn_address(l.topic2) AS "to", cairn_uint(l.data) AS value ${JOINED_LOGS}
  WHERE +l.topic0_id = (SELECT id FROM topics WHERE topic = X'${TRANSFER}')
  AND length(l.topic1) <= 20 AND length(l.topic2) <= 20 AND l.topic3 IS NULL AND l.data_length IS NULL`

function eventView({ name, columns, topic0, topicCount, address }: EventView, index: number): string {
  const row = 'l.id, a.address, z.topic, l.topic1, l.topic2, l.topic3, l.data, l.data_length'
  const selected = columns.map((column, i) => `cairn_event(${index}, ${i}, ${row}) AS ${quote(column)}`)
  const conditions = [`cairn_event(${index}, -1, ${row})`]
  if (topicCount < 4) conditions.unshift(`l.topic${topicCount === 0 ? '0_id' : topicCount} IS NULL`)
  if (address) conditions.unshift(`+l.address_id = (SELECT id FROM addresses WHERE address = ${literal(address)})`)
  if (topic0) conditions.unshift(`+l.topic0_id = (SELECT id FROM topics WHERE topic = ${literal(topic0)})`)
  return `CREATE TEMP VIEW ${quote(name)} AS SELECT ${[PLACE, ...selected].join(', ')} ${JOINED_LOGS}
    WHERE ${conditions.join(' AND ')}`
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function literal(bytes: Uint8Array): string {
  return `X'${formatData(bytes).slice(2)}'`
}
