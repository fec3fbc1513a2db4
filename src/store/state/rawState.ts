import type { RowValue } from '../chain/bodyRows.js'
import type { Database } from '../database.js'

/** A row of `account_history` with the account's address, null where the dictionary lacks the id. */
export interface RawAccountRow {
  address_id: number
  address: Uint8Array | null
  nonce: RowValue
  balance: RowValue
  code_id: number | null
  incarnation: number
  /** Of the account's row before; null where this is its first. */
  previous_incarnation: number | null
}

/** A row of `storage_history`, with the account as its block left it. */
export interface RawStorageRow {
  address_id: number
  address: Uint8Array | null
  incarnation: number
  slot: Uint8Array
  value: Uint8Array
}

/** Rows of the state history as they are stored, for an audit. */
export interface RawState {
  /** What a block changed. */
  accounts(blockNumber: number): RawAccountRow[]
  /** In the order of their accounts. */
  slots(blockNumber: number): RawStorageRow[]
  /** All code, by id. */
  codes(): IterableIterator<{ id: number; hash: Uint8Array; bytes: Uint8Array }>
  /** A block number in the history outside [first, head], where there is one. */
  stray(first: number, head: number): { table: string; blockNumber: number } | undefined
  isEmpty(): boolean
  /** Number and state root of the blocks from `from` on, at most `limit`. */
  roots(from: number, limit: number): { number: number; state_root: Uint8Array }[]
}

/** The rows of an open database, through statements prepared once. */
export function createRawState(db: Database): RawState {
  const accounts = db.prepare<[number], RawAccountRow>(
    `SELECT h.address_id, a.address, h.nonce, h.balance, h.code_id, h.incarnation,
       (SELECT p.incarnation FROM account_history p WHERE p.address_id = h.address_id
        AND p.block_number < h.block_number ORDER BY p.block_number DESC LIMIT 1) AS previous_incarnation
     FROM account_history h LEFT JOIN addresses a ON a.id = h.address_id WHERE h.block_number = ?`,
  )
  const slots = db.prepare<[number], RawStorageRow>(
    `SELECT h.address_id, a.address, h.incarnation, h.slot, h.value
     FROM storage_history h LEFT JOIN addresses a ON a.id = h.address_id WHERE h.block_number = ?
     ORDER BY h.address_id`,
  )
  const codes = db.prepare<[], { id: number; hash: Uint8Array; bytes: Uint8Array }>(
    'SELECT id, hash, bytes FROM code ORDER BY id',
  )
  const outside = (table: string) =>
    db
      .prepare<[number, number], number>(
        `SELECT block_number FROM ${table} WHERE block_number < ? OR block_number > ? LIMIT 1`,
      )
      .pluck()
  const strays = ['account_history', 'storage_history'].map((table) => ({ table, select: outside(table) }))
  const any = db
    .prepare<[], number>('SELECT EXISTS (SELECT 1 FROM account_history) OR EXISTS (SELECT 1 FROM storage_history)')
    .pluck()
  const roots = db.prepare<[number, number], { number: number; state_root: Uint8Array }>(
    'SELECT number, state_root FROM blocks WHERE number >= ? ORDER BY number LIMIT ?',
  )
  return {
    accounts: (blockNumber) => accounts.all(blockNumber),
    slots: (blockNumber) => slots.all(blockNumber),
    codes: () => codes.iterate(),
    stray: (first, head) => {
      for (const { table, select } of strays) {
        const blockNumber = select.get(first, head)
        if (blockNumber !== undefined) return { table, blockNumber }
      }
      return undefined
    },
    isEmpty: () => any.get() === 0,
    roots: (from, limit) => roots.all(from, limit),
  }
}
