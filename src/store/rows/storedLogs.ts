import type { Log } from '../../chain/eth/types.js'
import type { Database } from '../database.js'
import { decodeTopics } from './blockRows.js'

/** The parts of a log that are indexed. */
export type IndexedLog = Pick<Log, 'address' | 'topics'>

/** Stored logs as input of the index. */
export interface StoredLogs {
  /** Number of stored logs; ids are [0, count). */
  count(): number
  /** Logs with ids in [from, to), in order. */
  read(from: number, to: number): Iterable<IndexedLog>
}

interface Row {
  address: Uint8Array
  topic0: Uint8Array | null
  topic1: Uint8Array | null
  topic2: Uint8Array | null
  topic3: Uint8Array | null
}

/** Creates a reader of stored logs over an open connection, with statements prepared once. */
export function createStoredLogs(db: Database): StoredLogs {
  const select = db.prepare<[number, number], Row>(
    `SELECT a.address, z.topic AS topic0, l.topic1, l.topic2, l.topic3
     FROM logs l JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id
     WHERE l.id >= ? AND l.id < ? ORDER BY l.id`,
  )
  const selectCount = db.prepare<[], number>('SELECT ifnull(max(id) + 1, 0) FROM logs').pluck()
  function* read(from: number, to: number): Generator<IndexedLog> {
    for (const row of select.iterate(from, to)) yield decodeRow(row)
  }
  return { count: () => selectCount.get()!, read }
}

function decodeRow({ address, topic0, topic1, topic2, topic3 }: Row): IndexedLog {
  return { address, topics: decodeTopics(topic0, topic1, topic2, topic3) }
}
