import { encodeUint } from '../columns.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import type { BaseState } from '../rows/stateChanges.js'
import { KNOWN_STORAGE, UNKNOWN_STORAGE } from './sparseState.js'

/** Writes base rows of sparse state (sparseState.ts). */
export interface BaseRows {
  /** Writes the rows at `blockNumber`, within the caller's transaction. Rows that exist stay as they are.
   *  @throws Error when a later row of a key exists without a base row: its base would be wrong */
  insert(blockNumber: number, base: BaseState): void
}

/** Prepares the statements over a database opened for writing. */
export function createBaseRows(db: Database): BaseRows {
  const dictionary = dictionaryOf(db, 'addresses')
  const insertCode = db.prepare('INSERT INTO code (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')
  const selectCode = db.prepare<[Uint8Array], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const firstAccount = db.prepare<[number, number], number | null>(firstBlock('account', 'address_id = ?')).pluck()
  const firstSlot = db
    .prepare<unknown[], number | null>(firstBlock('storage', 'address_id = ? AND incarnation = ? AND slot = ?'))
    .pluck()
  const insertAccount = db.prepare(
    `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertSlot = db.prepare(
    'INSERT INTO storage_history (address_id, incarnation, slot, block_number, value) VALUES (?, ?, ?, ?, ?)',
  )
  /** True when the key has no row yet. */
  const isNew = (first: number | null | undefined, blockNumber: number) => {
    if (first === null || first === undefined) return true
    if (first > blockNumber) throw new Error(`a row of block ${first} was written before its base row`)
    return false
  }
  return {
    insert: (blockNumber, { accounts, slots, codes }) => {
      for (const { hash, bytes } of codes) insertCode.run(hash, bytes)
      for (const { address, account, hasStorage } of accounts) {
        const id = dictionary.idOf(address)
        if (!isNew(firstAccount.get(id, id), blockNumber)) continue
        const codeId = account?.codeHash === undefined ? null : selectCode.get(account.codeHash)!
        const { nonce = 0n, balance } = account ?? {}
        const stored = balance === undefined ? null : encodeUint(balance)
        const incarnation = hasStorage ? UNKNOWN_STORAGE : KNOWN_STORAGE
        insertAccount.run(id, blockNumber, encodeUint(nonce), stored, codeId, incarnation)
      }
      for (const { address, slot, value } of slots) {
        const id = dictionary.idOf(address)
        const key = [id, UNKNOWN_STORAGE, slot] as const
        if (isNew(firstSlot.get(...key, ...key), blockNumber)) insertSlot.run(...key, blockNumber, value)
      }
    },
  }
}

/** SQL of the lowest block number of a key; parameters are bound once for each table. */
function firstBlock(kind: 'account' | 'storage', where: string): string {
  const first = (table: string) => `(SELECT min(block_number) FROM ${table} WHERE ${where})`
  return `SELECT ifnull(${first(`${kind}_history`)}, ${first(`${kind}_recent`)})`
}
