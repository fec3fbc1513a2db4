import { EMPTY_BYTES } from '../../lib/bytes.js'
import type { RowValue } from '../columns.js'
import type { Database } from '../database.js'
import type { BlockInterval } from '../rows/coverage.js'
import { countKeys, createChangedKeysReader, createChangedSlotsReader, decodeAccountKeys } from './changedKeys.js'
import { accountsInBlock, HISTORY_TABLES, historyTables, KEY_COLUMNS, newestRow } from './historySql.js'
import { INCARNATIONS } from './sparseState.js'

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
  /** Undefined when the history lacks the row. */
  value: Uint8Array | undefined
}

/** Stored rows of the state history, for an audit. */
export interface RawState {
  /** Ids of the accounts that a block changed. @throws RangeError for an invalid encoding */
  accountIds(blockNumber: number): number[]
  /** The rows of the accounts that a block changed. */
  accounts(blockNumber: number, ids?: readonly number[]): RawAccountRow[]
  /** Slots changed by a block, in the order of their accounts. @throws RangeError for an invalid encoding */
  slots(blockNumber: number): RawStorageRow[]
  /** All code, by id. */
  codes(): IterableIterator<{ id: number; hash: Uint8Array; bytes: Uint8Array }>
  /** Rows of each table of the history and of the changed keys, with their lowest and highest block number. */
  tables(): { table: string; rows: number; least: number | null; most: number | null }[]
  /** Counts the accounts and slots that blocks changed, by the changed keys. @throws RangeError for an invalid
   *  encoding */
  changed(): { accounts: number; slots: number }
  /** A row that is not above all rows of its key in an `older` table, if any. */
  overtaken(): { table: string; older: string; addressId: number; blockNumber: number } | undefined
  /** With sparse state: the first row of a key that is neither at `first` nor of one of the `listed` blocks, if any. */
  withoutBase(
    first: number,
    listed: readonly BlockInterval[],
  ): { table: string; addressId: number; blockNumber: number } | undefined
  isEmpty(): boolean
  /** Numbers and state roots of at most `limit` blocks from `from` on. */
  roots(from: number, limit: number): { number: number; state_root: Uint8Array }[]
}

/** Creates a reader of raw rows over an open database, with statements prepared once. */
export function createRawState(db: Database): RawState {
  const previous = newestRow('account', 'incarnation', 'address_id = h.address_id AND block_number < h.block_number')
  const keys = createChangedKeysReader(db)
  const changedSlots = createChangedSlotsReader(db)
  const accounts = db.prepare<[{ number: number; ids: string }], RawAccountRow>(
    accountsInBlock(
      (from) =>
        `SELECT h.address_id, a.address, h.incarnation, h.nonce, h.balance, h.code_id, (${previous}) AS previous_incarnation
         FROM ${from} LEFT JOIN addresses a ON a.id = h.address_id`,
    ),
  )
  const selectAddress = db.prepare<[number], Uint8Array>('SELECT address FROM addresses WHERE id = ?').pluck()
  const codes = db.prepare<[], { id: number; hash: Uint8Array; bytes: Uint8Array }>(
    'SELECT id, hash, bytes FROM code ORDER BY id',
  )
  // One scan of each table: they have no index by block.
  const bounds = [...HISTORY_TABLES, 'changed_keys'].map((table) => ({
    table,
    select: db.prepare<[], { rows: number; least: number | null; most: number | null }>(
      `SELECT count(*) AS rows, min(block_number) AS least, max(block_number) AS most FROM ${table}`,
    ),
  }))
  const overtaken = (['account', 'storage'] as const).flatMap((kind) => {
    const sameKey = KEY_COLUMNS[kind].map((column) => `h.${column} = r.${column}`).join(' AND ')
    return historyTables(kind).flatMap((table, i, tables) =>
      tables.slice(i + 1).map((older) =>
        db.prepare<[], { table: string; older: string; addressId: number; blockNumber: number }>(
          `SELECT '${table}' AS "table", '${older}' AS older, r.address_id AS addressId, r.block_number AS blockNumber
           FROM ${table} r
           WHERE EXISTS (SELECT 1 FROM ${older} h WHERE ${sameKey} AND h.block_number >= r.block_number) LIMIT 1`,
        ),
      ),
    )
  })
  const withoutBase = (['account', 'storage'] as const).flatMap((kind) => {
    const key = KEY_COLUMNS[kind]
    const sameKey = key.map((column) => `o.${column} = h.${column}`).join(' AND ')
    // Later incarnations begin with the block that makes them.
    const where = kind === 'storage' ? `AND incarnation % ${INCARNATIONS} = 0` : ''
    return historyTables(kind).map((table, i, tables) => {
      const older = tables.slice(i + 1).map(
        (each) => `AND NOT EXISTS (SELECT 1 FROM ${each} o WHERE ${sameKey}
          AND o.block_number >= @first)`,
      )
      return db.prepare<[{ first: number; listed: string }], { table: string; addressId: number; blockNumber: number }>(
        `SELECT '${table}' AS "table", address_id AS addressId, min(block_number) AS blockNumber FROM ${table} h
         WHERE block_number >= @first ${where} GROUP BY ${key.join(', ')} HAVING blockNumber <> @first AND NOT EXISTS (
           SELECT 1 FROM json_each(@listed) WHERE blockNumber BETWEEN value ->> 'first' AND value ->> 'last')
           ${older.join(' ')} LIMIT 1`,
      )
    })
  })
  const rows = HISTORY_TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table})`)
  const any = db.prepare<[], number>(`SELECT ${rows.join(' OR ')}`).pluck()
  const roots = db.prepare<[number, number], { number: number; state_root: Uint8Array }>(
    'SELECT number, state_root FROM blocks WHERE number >= ? ORDER BY number LIMIT ?',
  )
  const accountIds = (number: number) => decodeAccountKeys(keys.block(number)?.accounts ?? EMPTY_BYTES)
  return {
    accountIds,
    accounts: (number, ids = accountIds(number)) => accounts.all({ number, ids: JSON.stringify(ids) }),
    slots: (number) => {
      const rows: RawStorageRow[] = []
      changedSlots.visit(number, ({ addressId, incarnation, slot }, value) => {
        rows.push({ address_id: addressId, address: selectAddress.get(addressId) ?? null, incarnation, slot, value })
      })
      return rows.sort((a, b) => a.address_id - b.address_id)
    },
    codes: () => codes.iterate(),
    tables: () => bounds.map(({ table, select }) => ({ table, ...select.get()! })),
    changed: () => {
      const found = { accounts: 0, slots: 0 }
      for (const { accounts, slots } of keys.blocks({ above: -1, upTo: Number.MAX_SAFE_INTEGER })) {
        found.accounts += countKeys(accounts)
        found.slots += countKeys(slots)
      }
      return found
    },
    overtaken: () => overtaken.map((select) => select.get()).find((row) => row !== undefined),
    withoutBase: (first, listed) => {
      const places = { first, listed: JSON.stringify(listed) }
      return withoutBase.map((select) => select.get(places)).find((row) => row !== undefined)
    },
    isEmpty: () => any.get() === 0,
    roots: (from, limit) => roots.all(from, limit),
  }
}
