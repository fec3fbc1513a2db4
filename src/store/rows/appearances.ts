import { crc32 } from 'node:zlib'
import { readAscending, writeAscending } from '../../lib/varint.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { createBlockAddressIds } from './blockAddressIds.js'

/* The addresses in which the transactions of a block appear, as ids of the address dictionary. Contracts recur within a
 * block, so transactions refer to one list. All integers are LEB128; a block without transactions has no bytes.
 *
 *   ids: count, then the ascending ids, each as its difference from the one before
 *   per transaction: count, then ascending indexes into the ids, each as its difference from the one before
 *   4 bytes: CRC-32 of the rest and of the addresses, little-endian, because nothing else in the database has internal
 *     calls */
const CRC_BYTES = 4
const ADDRESS_BYTES = 20

/** Encodes the ids of each transaction, each list ascending and distinct. `addressOf` returns the 20 bytes of an id. */
export function encodeAppearances(
  transactions: readonly (readonly number[])[],
  addressOf: (id: number) => Uint8Array,
): Uint8Array {
  if (transactions.length === 0) return new Uint8Array(0)
  const ids = Float64Array.from(new Set(transactions.flat())).sort()
  const indexOf = new Map<number, number>()
  const bytes: number[] = []
  for (const [index, id] of ids.entries()) indexOf.set(id, index)
  writeAscending(bytes, ids)
  for (const own of transactions) {
    const indexes = own.map((id) => indexOf.get(id)!)
    writeAscending(bytes, indexes)
  }
  // The addresses follow the encoding, for one call of `crc32`: 400 calls take 0.1 ms.
  const out = Buffer.alloc(bytes.length + Math.max(CRC_BYTES, ids.length * ADDRESS_BYTES))
  out.set(bytes)
  let end = bytes.length
  for (const id of ids) {
    out.set(addressOf(id), end)
    end += ADDRESS_BYTES
  }
  out.writeUInt32LE(crc32(out.subarray(0, end)), bytes.length)
  return out.subarray(0, bytes.length + CRC_BYTES)
}

/** Decodes the ids of each transaction, ascending, without comparing the checksum. @throws RangeError for an invalid
 *  encoding */
export function decodeAppearances(data: Uint8Array): number[][] {
  if (data.length === 0) return []
  const bytes = data.subarray(0, data.length - CRC_BYTES)
  const cursor = { bytes, at: 0 }
  const ids = readAscending(cursor)
  const transactions: number[][] = []
  while (cursor.at < bytes.length) transactions.push(readAscending(cursor).map((index) => ids[index]))
  return transactions
}

/** Returns the indexes of the transactions that have an id, ascending. */
export function transactionsWith(data: Uint8Array, id: number): number[] {
  const found: number[] = []
  if (data.length === 0) return found
  const bytes = data.subarray(0, data.length - CRC_BYTES)
  const cursor = { bytes, at: 0 }
  const sought = readAscending(cursor, id)
  if (sought.at(-1) !== id) return found
  const index = sought.length - 1
  for (let transaction = 0; cursor.at < bytes.length; transaction++) {
    if (readAscending(cursor, index).at(-1) === index) found.push(transaction)
  }
  return found
}

// Most transactions have about ten addresses; one may have tens of thousands.
const FEW = 32

/** Returns the distinct values, ascending. May change `values`. */
function ascendingOnce(values: number[]): number[] {
  const sorted = values.length > FEW ? Array.from(Float64Array.from(values).sort()) : values
  let length = 0
  for (const value of sorted) {
    let at = length
    while (at > 0 && sorted[at - 1] > value) at--
    if (at > 0 && sorted[at - 1] === value) continue
    for (let i = length; i > at; i--) sorted[i] = sorted[i - 1]
    sorted[at] = value
    length++
  }
  sorted.length = length
  return sorted
}

/** Writes the appearances of blocks. Writes join the caller's transaction. */
export interface AppearanceWriter {
  /** Stores the appearances of the block after the last one that has any: per transaction its addresses (20 bytes),
   *  which may repeat. Returns their ids, ascending and distinct. */
  put(blockNumber: number, transactions: readonly (readonly Uint8Array[])[]): number[][]
  /** Discards cached ids. Call it after a rollback. */
  clear(): void
}

/** Creates a writer over a database opened for writing. */
export function createAppearanceWriter(db: Database): AppearanceWriter {
  const insert = db.prepare('INSERT INTO address_appearances (block_number, data) VALUES (?, ?)')
  const dictionary = dictionaryOf(db, 'addresses')
  return {
    put: (blockNumber, transactions) => {
      const { idOf, addressOf } = createBlockAddressIds(dictionary)
      const ids = transactions.map((addresses) => ascendingOnce(addresses.map(idOf)))
      insert.run(blockNumber, encodeAppearances(ids, addressOf))
      return ids
    },
    clear: dictionary.clear,
  }
}

/** The block of a transaction. */
interface TransactionBlock {
  number: number
  firstTx: number
  txCount: number
}

/** Reads the appearances of an open database. */
export interface AppearanceReader {
  /** Number of the last block that has them; undefined if none has. */
  lastBlock(): number | undefined
  /** Number of the newest stored block; undefined if the chain is empty. */
  head(): number | undefined
  /** Number of transactions of the blocks that have them; their ids are [0, count). */
  count(): number
  /** The ids of the addresses of transactions [from, to), in order. */
  read(from: number, to: number): Iterable<readonly number[]>
  /** Encoded appearances of one block. */
  block(number: number): Uint8Array | undefined
  /** Encoded appearances of the blocks [first, last]; ascending, or descending if `newestFirst`. */
  blocks(first: number, last: number, newestFirst: boolean): Iterable<{ number: number; data: Uint8Array }>
  /** Ids [from, to) of the transactions of the stored blocks in [fromBlock, toBlock]. */
  transactionsOf(fromBlock: number, toBlock: number): [from: number, to: number]
  /** The block of a transaction. */
  blockOf(txId: number): TransactionBlock | undefined
}

/** Creates a reader with statements prepared once for the connection. */
export function createAppearanceReader(db: Database): AppearanceReader {
  const selectLast = db.prepare<[], number | null>('SELECT max(block_number) FROM address_appearances').pluck()
  const selectHead = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck()
  const selectCount = db
    .prepare<[], number | null>(
      'SELECT first_tx + n_tx FROM blocks WHERE number = (SELECT max(block_number) FROM address_appearances)',
    )
    .pluck()
  const selectBlock = db
    .prepare<[number], Uint8Array>('SELECT data FROM address_appearances WHERE block_number = ?')
    .pluck()
  const selectBlocks = (order: string) =>
    db.prepare<[number, number], { number: number; data: Uint8Array }>(
      `SELECT block_number AS number, data FROM address_appearances WHERE block_number BETWEEN ? AND ?
       ORDER BY block_number ${order}`,
    )
  const [ascending, descending] = [selectBlocks('ASC'), selectBlocks('DESC')]
  const selectBlockOf = db.prepare<[number], TransactionBlock>(
    `SELECT number, first_tx AS firstTx, n_tx AS txCount
     FROM blocks WHERE number = (SELECT block_number FROM transactions WHERE id = ?)`,
  )
  const selectFrom = db
    .prepare<[number], number>('SELECT first_tx FROM blocks WHERE number >= ? ORDER BY number LIMIT 1')
    .pluck()
  const selectTo = db
    .prepare<[number], number>('SELECT first_tx + n_tx FROM blocks WHERE number <= ? ORDER BY number DESC LIMIT 1')
    .pluck()
  return {
    lastBlock: () => selectLast.get() ?? undefined,
    head: () => selectHead.get() ?? undefined,
    count: () => selectCount.get() ?? 0,
    read: function* (from, to) {
      const first = selectBlockOf.get(from)
      if (first === undefined) return
      let id = first.firstTx
      for (const { data } of ascending.iterate(first.number, Number.MAX_SAFE_INTEGER)) {
        for (const ids of decodeAppearances(data)) {
          if (id >= to) return
          if (id >= from) yield ids
          id++
        }
      }
    },
    block: (number) => selectBlock.get(number),
    blocks: (first, last, newestFirst) => (newestFirst ? descending : ascending).iterate(first, last),
    transactionsOf: (fromBlock, toBlock) => [
      selectFrom.get(fromBlock) ?? Number.POSITIVE_INFINITY,
      selectTo.get(toBlock) ?? 0,
    ],
    blockOf: (txId) => selectBlockOf.get(txId),
  }
}
