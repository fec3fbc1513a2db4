import { padLeft } from '../../lib/bytes.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { selectBlockOfLog } from './blockOfLog.js'
import { decodeTopics } from './blockRows.js'
import { formatLog } from './logObject.js'

interface Row {
  id: number
  address: Uint8Array
  topic0: Uint8Array | null
  topic1: Uint8Array | null
  topic2: Uint8Array | null
  topic3: Uint8Array | null
  data: Uint8Array
  data_length: number
  tx_index: number
  tx_hash: Uint8Array
  number: number
  hash: Uint8Array
  timestamp: StoredUint
  first_log: number
}

/** Creates an encoder of the logs with these ids as JSON, in their order, joined by commas. Ten times as slow as
 *  records, for logs that these do not support. @throws Error when a log lacks its block, transaction, address or
 *  topic */
export function createLogObjectJson(db: Database): (ids: readonly number[]) => Buffer {
  const select = db.prepare<[string], Row>(
    `SELECT l.id, a.address, z.topic AS topic0, l.topic1, l.topic2, l.topic3, l.data,
       ifnull(l.data_length, 32) AS data_length, l.tx_index, t.hash AS tx_hash, b.number, b.hash, b.timestamp, b.first_log
     FROM json_each(?) wanted CROSS JOIN logs l ON l.id = wanted.value
     JOIN blocks b ON b.number = (${selectBlockOfLog('l.id')}) JOIN transactions t ON t.id = b.first_tx + l.tx_index
     JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id
     WHERE l.topic0_id IS NULL OR z.id IS NOT NULL ORDER BY wanted.rowid`,
  )
  return (ids) => {
    const rows = select.all(JSON.stringify(ids))
    // Never an answer with fewer logs than were found.
    if (rows.length !== ids.length) throw new Error(`logs from ${ids[0]} on lack their block, transaction or address`)
    return Buffer.from(JSON.stringify(rows.map(objectOf)).slice(1, -1), 'latin1')
  }
}

function objectOf(row: Row) {
  const topics = decodeTopics(row.topic0, row.topic1, row.topic2, row.topic3)
  return formatLog(
    { address: row.address, topics, data: padLeft(row.data, row.data_length) },
    {
      blockNumber: row.number,
      blockHash: row.hash,
      blockTimestamp: decodeUint(row.timestamp),
      transactionHash: row.tx_hash,
      transactionIndex: row.tx_index,
      logIndex: row.id - row.first_log,
    },
  )
}
