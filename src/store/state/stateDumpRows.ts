import { keccak256 } from '../../chain/crypto.js'
import { decodeUint, encodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { createMetaTable, META_STATE_DUMP, META_STATE_DUMP_IMPORT } from '../meta.js'
import { beginWriting, commitWriting } from '../writeTransaction.js'
import { createStateTrieTable } from './stateTrieTable.js'

/** An account of a dump with the hash of its address, 32 bytes. */
export interface HashedAccountRow {
  readonly hash: Uint8Array
  readonly id: number
  readonly nonce: bigint
  readonly balance: bigint
  /** Undefined without code. */
  readonly codeHash?: Uint8Array
  readonly hasStorage: boolean
}

/** A slot of a dump with its hash, 32 bytes, and its value without leading zeros. */
export interface HashedSlotRow {
  readonly hash: Uint8Array
  readonly value: Uint8Array
}

/** Writes the rows of a state dump (stateDump.ts), within the caller's transactions. */
export interface StateDumpWriter {
  /** Adds a slot of an account, in any order. @returns false when the account has that slot already */
  addSlot(accountId: number, hash: Uint8Array, value: Uint8Array): boolean
  /** Adds an account, in any order. @returns false when there is one with that hash already */
  addAccount(account: Omit<HashedAccountRow, 'codeHash'> & { readonly code?: Uint8Array }): boolean
  /** Removes the rows of accounts with ids from `id` on. */
  removeFrom(id: number): void
}

/** Prepares the statements over a database opened for writing. */
export function createStateDumpWriter(db: Database): StateDumpWriter {
  const insertSlot = db.prepare(
    'INSERT INTO hashed_storage (account_id, slot_hash, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const insertAccount = db.prepare(
    `INSERT INTO hashed_accounts (hash, id, nonce, balance, code_id, has_storage) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const insertCode = db.prepare('INSERT INTO code (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')
  const selectCode = db.prepare<[Uint8Array], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const codeIdOf = (code: Uint8Array | undefined): number | null => {
    if (code === undefined) return null
    const hash = keccak256(code)
    insertCode.run(hash, code)
    return selectCode.get(hash)!
  }
  return {
    addSlot: (accountId, hash, value) => insertSlot.run(accountId, hash, value).changes === 1,
    addAccount: ({ hash, id, nonce, balance, code, hasStorage }) => {
      const codeId = codeIdOf(code)
      const values = [encodeUint(nonce), encodeUint(balance), codeId, hasStorage ? 1 : 0]
      return insertAccount.run(hash, id, ...values).changes === 1
    },
    removeFrom: (id) => {
      db.prepare('DELETE FROM hashed_accounts WHERE id >= ?').run(id)
      db.prepare('DELETE FROM hashed_storage WHERE account_id >= ?').run(id)
    },
  }
}

/** Removes what was imported of a dump from a database without blocks, with its code and its trie, and frees the space.
 *  Not within a transaction. */
export function discardStateDump(db: Database): void {
  beginWriting(db)
  removeStateDump(db)
  db.exec('DELETE FROM code')
  createStateTrieTable(db).removeFrom(0)
  commitWriting(db)
  db.exec('VACUUM')
}

/** Removes a dump whose block was removed, within the caller's transaction. Code stays: later blocks use it. */
export function removeStateDump(db: Database): void {
  for (const table of ['hashed_accounts', 'hashed_storage']) db.exec(`DELETE FROM ${table}`)
  const meta = createMetaTable(db)
  for (const key of [META_STATE_DUMP, META_STATE_DUMP_IMPORT]) if (meta.get(key) != null) meta.set(key, null)
}

/** Reads the rows of a dump in the order of the tries. */
export interface StateDumpRows {
  /** Accounts with hashes above `after`, ascending; without it from the first one on. */
  accounts(after: Uint8Array | undefined, limit: number): HashedAccountRow[]
  /** Slots of an account with hashes above `after`, ascending. */
  slots(accountId: number, after: Uint8Array | undefined, limit: number): HashedSlotRow[]
}

interface StoredAccountRow {
  hash: Uint8Array
  id: number
  nonce: StoredUint
  balance: StoredUint
  code_hash: Uint8Array | null
  has_storage: number
}

// Text sorts before every blob.
const FIRST = ''

/** Creates a reader of rows over an open database. */
export function createStateDumpRows(db: Database): StateDumpRows {
  const selectAccounts = db.prepare<[Uint8Array | string, number], StoredAccountRow>(
    `SELECT h.hash, h.id, h.nonce, h.balance, h.has_storage, c.hash AS code_hash
     FROM hashed_accounts h LEFT JOIN code c ON c.id = h.code_id WHERE h.hash > ? ORDER BY h.hash LIMIT ?`,
  )
  const selectSlots = db.prepare<[number, Uint8Array | string, number], HashedSlotRow>(
    'SELECT slot_hash AS hash, value FROM hashed_storage WHERE account_id = ? AND slot_hash > ? ORDER BY slot_hash LIMIT ?',
  )
  return {
    accounts: (after, limit) =>
      selectAccounts.all(after ?? FIRST, limit).map((row) => ({
        ...{ hash: row.hash, id: row.id, hasStorage: row.has_storage === 1, codeHash: row.code_hash ?? undefined },
        ...{ nonce: decodeUint(row.nonce), balance: decodeUint(row.balance) },
      })),
    slots: (accountId, after, limit) => selectSlots.all(accountId, after ?? FIRST, limit),
  }
}
