import type { Database } from '../database.js'
import { prepareTransactionHashes } from './transaction.js'

/** The location of a transaction in the chain. */
export interface TransactionLocation {
  blockNumber: number
  /** Index in the block. */
  index: number
}

/** Transaction hashes, 32 bytes each, by transaction id. */
interface TransactionHashes {
  /** Number of stored transactions; ids are [0, count). */
  count(): number
  /** Hashes of ids [from, to), in order, as one array. */
  list(from: number, to: number): Uint8Array[]
  /** Hashes of ids [from, to), in order, row by row. */
  read(from: number, to: number): Iterable<Uint8Array>
  /** Hash and location of a transaction; undefined for an unknown id. */
  locate(id: number): (TransactionLocation & { hash: Uint8Array }) | undefined
  /** Hash of the block that contains a transaction. */
  blockHash(id: number): Buffer | undefined
}

/** Creates a reader with statements prepared once for the connection. */
export function createTransactionHashes(db: Database): TransactionHashes {
  const select = prepareTransactionHashes(db)
  const selectCount = db.prepare<[], number>('SELECT ifnull(max(id) + 1, 0) FROM transactions').pluck()
  const selectLocation = db.prepare<[number], TransactionLocation & { hash: Uint8Array }>(
    `SELECT t.hash, t.block_number AS blockNumber, t.id - b.first_tx AS "index"
     FROM transactions t JOIN blocks b ON b.number = t.block_number WHERE t.id = ?`,
  )
  const selectBlockHash = db
    .prepare<[number], Buffer>(
      'SELECT b.hash FROM transactions t JOIN blocks b ON b.number = t.block_number WHERE t.id = ?',
    )
    .pluck()
  return {
    count: () => selectCount.get()!,
    list: (from, to) => select.all(from, to),
    read: (from, to) => select.iterate(from, to),
    locate: (id) => selectLocation.get(id),
    blockHash: (id) => selectBlockHash.get(id),
  }
}
