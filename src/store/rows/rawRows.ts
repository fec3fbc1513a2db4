import type { RowValue } from '../columns.js'
import type { Database } from '../database.js'
import { JOIN_LOG_VALUES } from './log.js'

/** A row as SQLite returns it, by column. */
export interface RawRow {
  readonly [column: string]: RowValue
}

/** Upper bounds (exclusive) of the ids that belong to blocks. */
export interface RowBounds {
  firstBlock: number
  nextBlock: number
  nextTx: number
  nextLog: number
}

/** Stored rows of blocks, for an audit. */
export interface RawRows {
  /** Numbers of the first and the newest block; undefined when the chain is empty. */
  range(): { first: number; head: number } | undefined
  block(number: number): RawRow | undefined
  uncles(blockNumber: number): RawRow[]
  blockAccessList(blockNumber: number): RawRow | undefined
  appearances(blockNumber: number): RawRow | undefined
  traces(blockNumber: number): RawRow | undefined
  /** Number of the last block with a row of the trace index. */
  lastTraces(): number | undefined
  /** Number of the last block with appearances. */
  lastAppearances(): number | undefined
  /** The address of an id in the dictionary. */
  address(id: number): Uint8Array | undefined
  /** Rows with ids in [from, to), ascending. */
  transactions(from: number, to: number): RawRow[]
  receipts(from: number, to: number): RawRow[]
  /** With `address` and `topic0` of the dictionaries; null for an unknown id. */
  logs(from: number, to: number): RawRow[]
  /** A row that belongs to no block, if there is one. */
  stray(bounds: RowBounds): { table: string; id: number } | undefined
}

/** Creates a reader of raw rows over an open database, with statements prepared once. */
export function createRawRows(db: Database): RawRows {
  const range = db.prepare<[], { first: number | null; head: number | null }>(
    'SELECT (SELECT min(number) FROM blocks) AS first, (SELECT max(number) FROM blocks) AS head',
  )
  const block = db.prepare<[number], RawRow>('SELECT * FROM blocks WHERE number = ?')
  const uncles = db.prepare<[number], RawRow>('SELECT * FROM uncles WHERE block_number = ? ORDER BY idx')
  const accessList = db.prepare<[number], RawRow>('SELECT * FROM block_access_lists WHERE block_number = ?')
  const appearances = db.prepare<[number], RawRow>('SELECT * FROM address_appearances WHERE block_number = ?')
  const traces = db.prepare<[number], RawRow>('SELECT * FROM traces WHERE block_number = ?')
  const lastTraces = db.prepare<[], number | null>('SELECT max(block_number) FROM traces').pluck()
  const address = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  const lastAppearances = db.prepare<[], number | null>('SELECT max(block_number) FROM address_appearances').pluck()
  const rowsOf = (table: string, id: string) =>
    db.prepare<[number, number], RawRow>(`SELECT * FROM ${table} WHERE ${id} >= ? AND ${id} < ? ORDER BY ${id}`)
  const transactions = rowsOf('transactions', 'id')
  const receipts = rowsOf('receipts', 'tx_id')
  const logs = db.prepare<[number, number], RawRow>(
    `SELECT l.*, a.address, z.topic AS topic0 FROM logs l LEFT ${JOIN_LOG_VALUES}
     WHERE l.id >= ? AND l.id < ? ORDER BY l.id`,
  )
  const outside = (table: string, id: string) =>
    db.prepare<[number, number], number>(`SELECT ${id} FROM ${table} WHERE ${id} < ? OR ${id} >= ? LIMIT 1`).pluck()
  const strays = {
    uncles: outside('uncles', 'block_number'),
    accessLists: outside('block_access_lists', 'block_number'),
    appearances: outside('address_appearances', 'block_number'),
    traces: outside('traces', 'block_number'),
    transactions: outside('transactions', 'id'),
    receipts: outside('receipts', 'tx_id'),
    logs: outside('logs', 'id'),
  }
  return {
    range: () => {
      const { first, head } = range.get()!
      return first === null || head === null ? undefined : { first, head }
    },
    block: (number) => block.get(number),
    uncles: (number) => uncles.all(number),
    blockAccessList: (number) => accessList.get(number),
    appearances: (number) => appearances.get(number),
    traces: (number) => traces.get(number),
    lastTraces: () => lastTraces.get() ?? undefined,
    lastAppearances: () => lastAppearances.get() ?? undefined,
    address: (id) => address.get(id),
    transactions: (from, to) => transactions.all(from, to),
    receipts: (from, to) => receipts.all(from, to),
    logs: (from, to) => logs.all(from, to),
    stray: ({ firstBlock, nextBlock, nextTx, nextLog }) => {
      const found = [
        { table: 'uncles', id: strays.uncles.get(firstBlock, nextBlock) },
        { table: 'block_access_lists', id: strays.accessLists.get(firstBlock, nextBlock) },
        { table: 'address_appearances', id: strays.appearances.get(firstBlock, nextBlock) },
        { table: 'traces', id: strays.traces.get(firstBlock, nextBlock) },
        { table: 'transactions', id: strays.transactions.get(0, nextTx) },
        { table: 'receipts', id: strays.receipts.get(0, nextTx) },
        { table: 'logs', id: strays.logs.get(0, nextLog) },
      ].find(({ id }) => id !== undefined)
      return found && { table: found.table, id: found.id! }
    },
  }
}
