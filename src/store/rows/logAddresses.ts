import type { Database } from '../database.js'
import type { IdRange } from './rowFilter.js'

/** Reads which contracts logged one of some events. */
export interface LogAddresses {
  /** Ids of the addresses that logged one of the first topics in a range of log ids, each once, in no order. Reads
   *  every log of the range, at 0.2 µs of processor time each. */
  idsIn(range: IdRange): number[]
  /** The 32 bytes of the hash of a stored block; undefined for another one. */
  blockHash(blockNumber: number): Uint8Array | undefined
}

/** Creates a reader for these first topics, 32 bytes each, with statements prepared once for the connection. */
export function createLogAddresses(db: Database, topics: readonly Uint8Array[]): LogAddresses {
  const marks = topics.map(() => '?').join(', ')
  // `+` keeps SQLite from building an index.
  const select = db
    .prepare<[number, number, ...Uint8Array[]], number>(
      `SELECT DISTINCT address_id FROM logs
       WHERE id >= ? AND id < ? AND +topic0_id IN (SELECT id FROM topics WHERE topic IN (${marks}))`,
    )
    .pluck()
  const selectHash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck()
  return {
    idsIn: ({ from, to }) => select.all(from, to, ...topics),
    blockHash: (blockNumber) => selectHash.get(blockNumber),
  }
}
