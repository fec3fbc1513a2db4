import type { Log } from '../../chain/eth/types.js'
import { padLeft } from '../../lib/bytes.js'
import type { Database } from '../database.js'

/** What the index needs of a log. */
export type IndexedLog = Pick<Log, 'address' | 'topics'>

/** The logs of the rows, as the index takes them. */
export interface StoredLogs {
  /** Logs that are rows: their ids are those below. */
  count(): number
  /** The logs with ids in [from, to), by id. */
  read(from: number, to: number): Iterable<IndexedLog>
}

interface Row {
  address: Uint8Array
  topic0: Uint8Array | null
  topic1: Uint8Array | null
  topic2: Uint8Array | null
  topic3: Uint8Array | null
}

/** The stored logs through statements prepared once for the connection. */
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
  const topics = topic0 === null ? [] : [topic0]
  for (const topic of [topic1, topic2, topic3]) if (topic !== null) topics.push(padLeft(topic, 32))
  return { address, topics }
}
