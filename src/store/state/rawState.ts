import type { RowValue } from '../chain/bodyRows.js'
import type { Database } from '../database.js'

/** A row of `account_history` with the account's address; null when the dictionary lacks the id. */
export interface RawAccountRow {
  address_id: number
  address: Uint8Array | null
  nonce: RowValue
  balance: RowValue
  code_id: number | null
  incarnation: number
  /** Incarnation in the account's previous row; null for its first row. */
  previous_incarnation: number | null
}

/** A row of `storage_history`, with the account after that block. */
export interface RawStorageRow {
  address_id: number
  address: Uint8Array | null
  incarnation: number
  slot: Uint8Array
  value: Uint8Array
}

/** Stored rows of the state history, for an audit. */
export interface RawState {
  /** Accounts changed by a block. */
  accounts(blockNumber: number): RawAccountRow[]
  /** Slots changed by a block, in the order of their accounts. */
  slots(blockNumber: number): RawStorageRow[]
  /** All code, by id. */
  codes(): IterableIterator<{ id: number; hash: Uint8Array; bytes: Uint8Array }>
  /** A row of the history with a block number outside [first, head], if there is one. */
  stray(first: number, head: number): { table: string; blockNumber: number } | undefined
  isEmpty(): boolean
  /** Numbers and state roots of at most `limit` blocks from `from` on. */
  roots(from: number, limit: number): { number: number; state_root: Uint8Array }[]
}

/** Raw rows of an open database, with statements prepared once. */
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
