import type { RowValue } from '../chain/bodyRows.js'
import type { Database } from '../database.js'
import { HISTORY_TABLES, type HistoryKind, inBlocks, KEY_COLUMNS, newestRow } from './historySql.js'

/** A row of an account with the account's address; null when the dictionary lacks the id. */
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

/** A row of a slot, with the account after that block. */
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
  /** A recent row that is not above all rows of its key in the history, if there is one. */
  overtaken(): { table: string; addressId: number; blockNumber: number } | undefined
  isEmpty(): boolean
  /** Numbers and state roots of at most `limit` blocks from `from` on. */
  roots(from: number, limit: number): { number: number; state_root: Uint8Array }[]
}

/** Raw rows of an open database, with statements prepared once. */
export function createRawState(db: Database): RawState {
  const previous = newestRow('account', 'incarnation', 'address_id = h.address_id AND block_number < h.block_number')
  const inBlock = (kind: HistoryKind, columns: string) =>
    inBlocks(
      kind,
      '@number',
      (from) =>
        `SELECT h.address_id, a.address, h.incarnation, ${columns} FROM ${from} LEFT JOIN addresses a ON a.id = h.address_id
         WHERE h.block_number = @number`,
    )
  const accounts = db.prepare<[{ number: number }], RawAccountRow>(
    inBlock('account', `h.nonce, h.balance, h.code_id, (${previous}) AS previous_incarnation`),
  )
  const slots = db.prepare<[{ number: number }], RawStorageRow>(
    `${inBlock('storage', 'h.slot, h.value')} ORDER BY h.address_id`,
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
  const strays = HISTORY_TABLES.map((table) => ({ table, select: outside(table) }))
  const overtaken = (['account', 'storage'] as const).map((kind) => {
    const table = `${kind}_recent`
    const sameKey = KEY_COLUMNS[kind].map((column) => `h.${column} = r.${column}`).join(' AND ')
    return db.prepare<[], { table: string; addressId: number; blockNumber: number }>(
      `SELECT '${table}' AS "table", r.address_id AS addressId, r.block_number AS blockNumber FROM ${table} r
       WHERE EXISTS (SELECT 1 FROM ${kind}_history h WHERE ${sameKey} AND h.block_number >= r.block_number) LIMIT 1`,
    )
  })
  const rows = HISTORY_TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table})`)
  const any = db.prepare<[], number>(`SELECT ${rows.join(' OR ')}`).pluck()
  const roots = db.prepare<[number, number], { number: number; state_root: Uint8Array }>(
    'SELECT number, state_root FROM blocks WHERE number >= ? ORDER BY number LIMIT ?',
  )
  return {
    accounts: (number) => accounts.all({ number }),
    slots: (number) => slots.all({ number }),
    codes: () => codes.iterate(),
    stray: (first, head) => {
      for (const { table, select } of strays) {
        const blockNumber = select.get(first, head)
        if (blockNumber !== undefined) return { table, blockNumber }
      }
      return undefined
    },
    overtaken: () => overtaken.map((select) => select.get()).find((row) => row !== undefined),
    isEmpty: () => any.get() === 0,
    roots: (from, limit) => roots.all(from, limit),
  }
}
