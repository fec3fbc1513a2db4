import type { Log } from '../../chain/eth/types.js'
import { leadingZeros, padLeft } from '../../lib/bytes.js'
import { createBoundBytes } from '../boundBytes.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { createRowBatch, ROWS_AT_ONCE } from '../rowBatch.js'
import { selectBlockOfLog } from './blockOfLog.js'
import type { IndexedLog, StoredLog } from './types.js'

/* The row of a log: ids of its address and first topic, topics 1 to 3 and data without leading zeros, the length of the
   data unless it is 32. */

const WORD = 32
const COLUMNS = ['id', 'tx_index', 'address_id', 'topic0_id', 'topic1', 'topic2', 'topic3', 'data', 'data_length']

/** Inserts of log rows. */
interface LogInserts {
  /** Adds a log. Its row is written at the latest by `flush`. */
  insert(id: number, txIndex: number, log: Log): void
  flush(): void
  /** Discards unflushed rows. Call it after a rollback. */
  clear(): void
}

/** Creates inserts of several rows per statement. Trimmed values are bound from fixed buffers. */
export function createLogInserts(db: Database): LogInserts {
  const batch = createRowBatch(db, 'logs', COLUMNS)
  const [addresses, topicIds] = [dictionaryOf(db, 'addresses'), dictionaryOf(db, 'topics')]
  const trimmers = Array.from({ length: ROWS_AT_ONCE }, () => [0, 1, 2, 3].map(createTrimmer))
  return {
    insert: (id, txIndex, { address, topics, data }) => {
      const trim = trimmers[batch.row]
      const addressId = addresses.idOf(address)
      const topic0Id = topics.length > 0 ? topicIds.idOf(topics[0]) : null
      const topic = (i: number) => (topics.length > i ? trim[i](topics[i]) : null)
      const dataLength = data.length === WORD ? null : data.length
      batch.add(id, txIndex, addressId, topic0Id, topic(1), topic(2), topic(3), trim[0](data), dataLength)
    },
    flush: batch.flush,
    clear: () => {
      batch.clear()
      addresses.clear()
      topicIds.clear()
    },
  }
}

/** Returns a function that strips leading zeros. Its result is overwritten by the next call. */
function createTrimmer(): (bytes: Uint8Array) => Uint8Array {
  const bound = createBoundBytes(WORD)
  return (bytes) => {
    const zeros = leadingZeros(bytes)
    if (bytes.length - zeros <= WORD) return bound(bytes, zeros, bytes.length)
    return zeros === 0 ? bytes : bytes.subarray(zeros)
  }
}

/** The topics of a row, the first one from its dictionary; null where absent. */
interface TopicColumns {
  topic0: Uint8Array | null
  topic1: Uint8Array | null
  topic2: Uint8Array | null
  topic3: Uint8Array | null
}

/** A row of `logs` with the values of its dictionaries. */
export interface LogColumns extends TopicColumns {
  address: Uint8Array
  data: Uint8Array
  data_length: number | null
}

/** Joins the dictionaries of addresses (`a`) and topics (`z`) to the logs `l`. */
export const JOIN_LOG_VALUES = 'JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id'
const INDEXED_COLUMNS = 'a.address, z.topic AS topic0, l.topic1, l.topic2, l.topic3'
const LOG_COLUMNS = `${INDEXED_COLUMNS}, l.data, l.data_length`
const selectRange = (columns: string) =>
  `SELECT ${columns} FROM logs l ${JOIN_LOG_VALUES} WHERE l.id >= ? AND l.id < ? ORDER BY l.id`

/** Decodes a log. */
export function decodeLog(row: LogColumns): Log {
  return { address: row.address, topics: decodeTopics(row), data: padLeft(row.data, row.data_length ?? WORD) }
}

/** The topics in order, 32 bytes each. */
function decodeTopics({ topic0, topic1, topic2, topic3 }: TopicColumns): Uint8Array[] {
  const topics: Uint8Array[] = []
  if (topic0 !== null) topics.push(topic0)
  if (topic1 !== null) topics.push(padLeft(topic1, WORD))
  if (topic2 !== null) topics.push(padLeft(topic2, WORD))
  if (topic3 !== null) topics.push(padLeft(topic3, WORD))
  return topics
}

/** Returns a function that reads the logs with ids in [from, to), in order. Its statement is prepared once. */
export function createLogReader(db: Database): (from: number, to: number) => Log[] {
  const select = db.prepare<[number, number], LogColumns>(selectRange(LOG_COLUMNS))
  return (from, to) => select.all(from, to).map(decodeLog)
}

/** Stored logs as input of the index. */
interface IndexedLogs {
  /** Number of stored logs; ids are [0, count). */
  count(): number
  /** Logs with ids in [from, to), in order. */
  read(from: number, to: number): Iterable<IndexedLog>
}

/** Creates a reader of the indexed parts of logs, with statements prepared once. */
export function createIndexedLogs(db: Database): IndexedLogs {
  const select = db.prepare<[number, number], TopicColumns & { address: Uint8Array }>(selectRange(INDEXED_COLUMNS))
  const selectCount = db.prepare<[], number>('SELECT ifnull(max(id) + 1, 0) FROM logs').pluck()
  function* read(from: number, to: number): Generator<IndexedLog> {
    for (const row of select.iterate(from, to)) yield { address: row.address, topics: decodeTopics(row) }
  }
  return { count: () => selectCount.get()!, read }
}

interface StoredLogRow extends LogColumns {
  id: number
  tx_index: number
  tx_hash: Uint8Array
  number: number
  hash: Uint8Array
  timestamp: StoredUint
  first_log: number
}

/** Creates a reader of the logs with these ids, in their order, with their positions. The reader throws an Error when a
 *  log lacks its block, transaction, address or topic: it never returns fewer logs than were asked for. */
export function createStoredLogs(db: Database): (ids: readonly number[]) => StoredLog[] {
  const select = db.prepare<[string], StoredLogRow>(
    `SELECT ${LOG_COLUMNS}, l.id, l.tx_index, t.hash AS tx_hash, b.number, b.hash, b.timestamp, b.first_log
     FROM json_each(?) wanted CROSS JOIN logs l ON l.id = wanted.value
     JOIN blocks b ON b.number = (${selectBlockOfLog('l.id')}) JOIN transactions t ON t.id = b.first_tx + l.tx_index
     ${JOIN_LOG_VALUES} WHERE l.topic0_id IS NULL OR z.id IS NOT NULL ORDER BY wanted.rowid`,
  )
  return (ids) => {
    const rows = select.all(JSON.stringify(ids))
    if (rows.length !== ids.length) throw new Error(`logs from ${ids[0]} on lack their block, transaction or address`)
    return rows.map((row) => ({
      log: decodeLog(row),
      position: {
        blockNumber: row.number,
        blockHash: row.hash,
        blockTimestamp: decodeUint(row.timestamp),
        transactionHash: row.tx_hash,
        transactionIndex: row.tx_index,
        logIndex: row.id - row.first_log,
      },
    }))
  }
}
