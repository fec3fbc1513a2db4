import { keyOfBytes, padLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { encodeUint } from '../columns.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { createMetaTable, META_KNOWN_STATE } from '../meta.js'
import type { LearnedAccount } from '../replication/stateEntry.js'
import type { KnownState } from '../rows/coverage.js'
import type { BaseState } from '../rows/stateChanges.js'
import { baseIncarnation, countClosedStates, UNKNOWN_ACCOUNT } from './sparseState.js'

/** Writes base rows of sparse state (sparseState.ts). */
export interface BaseRows {
  /** Writes the rows at `blockNumber`, within the caller's transaction. Rows that exist stay as they are, markers are
   *  replaced.
   *  @returns the keys whose rows were written
   *  @throws BaseRowLate when a later row of a key exists without a base row: its base would be wrong */
  insert(blockNumber: number, base: BaseState): LearnedAccount[]
  /** Removes base rows at `blockNumber`, of the interval after `closed` others. Accounts that have earlier rows get
   *  markers. */
  remove(blockNumber: number, closed: number, keys: readonly LearnedAccount[]): void
  /** Writes a marker at `blockNumber`, above all rows, for each account that has rows. */
  mark(blockNumber: number): void
  /** Removes all rows at `blockNumber`. */
  removeAt(blockNumber: number): void
}

/** A key has a row of a later block and no base row. */
export class BaseRowLate extends CairnError {
  constructor(block: number) {
    super(`a row of block ${block} was written before its base row`)
  }
}

/** An account and slots whose base rows a database has. */
export interface BaseKeys {
  readonly address: Uint8Array // 20
  readonly slots: readonly Uint8Array[] // 32 bytes each
}

/** Returns the keys with base rows at the first block of the newest interval, `first`, in the order in which accounts
 *  were first stored. */
export function* readBaseKeys(db: Database, first: number): Generator<BaseKeys> {
  const accounts = db.prepare<[number, number], { id: number; address: Uint8Array }>(
    `SELECT address_id AS id, address FROM account_history JOIN addresses ON addresses.id = address_id
     WHERE block_number = ? AND incarnation <> ${UNKNOWN_ACCOUNT} AND address_id > ? ORDER BY address_id LIMIT ${BATCH}`,
  )
  const slots = db
    .prepare<[number, number, number], Uint8Array>(
      'SELECT slot FROM storage_history WHERE address_id = ? AND incarnation = ? AND block_number = ? ORDER BY slot',
    )
    .pluck()
  const incarnation = baseIncarnation(countClosedStates(db), true)
  // In batches, so that the connection may be used in between.
  for (let after = -1; ; ) {
    const batch = accounts.all(first, after)
    for (const { id, address } of batch) {
      yield { address, slots: slots.all(id, incarnation, first).map((slot) => padLeft(slot, 32)) }
      after = id
    }
    if (batch.length < BATCH) return
  }
}

const BATCH = 1_000

/** The first row of a key from a block on; a marker has no incarnation. */
interface FirstRow {
  readonly block: number
  readonly incarnation: number
}

/** Prepares the statements over a database opened for writing. */
export function createBaseRows(db: Database): BaseRows {
  const dictionary = dictionaryOf(db, 'addresses')
  const insertCode = db.prepare('INSERT INTO code (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')
  const selectCode = db.prepare<[Uint8Array], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const firstAccount = db.prepare<unknown[], FirstRow>(firstRow('account', 'address_id = ?', 'incarnation'))
  const firstSlot = db.prepare<unknown[], FirstRow>(
    firstRow('storage', 'address_id = ? AND incarnation = ? AND slot = ?', '0'),
  )
  const insertAccount = db.prepare(
    `INSERT OR REPLACE INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertSlot = db.prepare(
    'INSERT INTO storage_history (address_id, incarnation, slot, block_number, value) VALUES (?, ?, ?, ?, ?)',
  )
  const removeAccount = db.prepare('DELETE FROM account_history WHERE address_id = ? AND block_number = ?')
  const removeSlot = db.prepare(
    'DELETE FROM storage_history WHERE address_id = ? AND incarnation = ? AND slot = ? AND block_number = ?',
  )
  const markAccount = db.prepare(
    `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
     SELECT address_id, ?, 0, NULL, NULL, ${UNKNOWN_ACCOUNT} FROM account_history
     WHERE address_id = ? AND block_number < ? LIMIT 1`,
  )
  /** True when the key has no row from `blockNumber` on, or only a marker there. */
  const isNew = (first: FirstRow | undefined, blockNumber: number) => {
    if (first === undefined) return true
    if (first.block > blockNumber) throw new BaseRowLate(first.block)
    return first.incarnation === UNKNOWN_ACCOUNT
  }
  return {
    insert: (blockNumber, { accounts, slots, codes }) => {
      const closed = countClosedStates(db)
      const inserted = { accounts: 0, slots: 0 }
      const written = new WrittenKeys()
      for (const { hash, bytes } of codes) insertCode.run(hash, bytes)
      for (const { address, account, hasStorage } of accounts) {
        const id = dictionary.idOf(address)
        if (!isNew(firstAccount.get(id, blockNumber, id, blockNumber), blockNumber)) continue
        const codeId = account?.codeHash === undefined ? null : selectCode.get(account.codeHash)!
        const { nonce = 0n, balance } = account ?? {}
        const stored = balance === undefined ? null : encodeUint(balance)
        const incarnation = baseIncarnation(closed, hasStorage)
        insertAccount.run(id, blockNumber, encodeUint(nonce), stored, codeId, incarnation)
        inserted.accounts++
        written.add(address)
      }
      for (const { address, slot, value } of slots) {
        const key = [dictionary.idOf(address), baseIncarnation(closed, true), slot] as const
        const first = firstSlot.get(...key, blockNumber, ...key, blockNumber)
        if (!isNew(first, blockNumber)) continue
        insertSlot.run(...key, blockNumber, value)
        inserted.slots++
        written.add(address, slot)
      }
      addKnown(db, inserted)
      return written.list()
    },
    remove: (blockNumber, closed, keys) => {
      const removed = { accounts: 0, slots: 0 }
      for (const { address, isBase, baseSlots } of keys) {
        const id = dictionary.idOf(address)
        const incarnation = baseIncarnation(closed, true)
        for (const slot of baseSlots) removed.slots -= removeSlot.run(id, incarnation, slot, blockNumber).changes
        if (!isBase) continue
        removed.accounts -= removeAccount.run(id, blockNumber).changes
        markAccount.run(blockNumber, id, blockNumber)
      }
      if (closed === countClosedStates(db)) addKnown(db, removed)
    },
    mark: (blockNumber) => {
      db.prepare(
        `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
         SELECT DISTINCT address_id, ?, 0, NULL, NULL, ${UNKNOWN_ACCOUNT} FROM account_history`,
      ).run(blockNumber)
    },
    removeAt: (blockNumber) => {
      for (const table of ['account_history', 'storage_history']) {
        db.prepare(`DELETE FROM ${table} WHERE block_number = ?`).run(blockNumber)
      }
    },
  }
}

/** Adds to what is known of the newest interval. */
function addKnown(db: Database, { accounts, slots }: KnownState): void {
  if (accounts === 0 && slots === 0) return
  const meta = createMetaTable(db)
  const known = meta.get<KnownState>(META_KNOWN_STATE)
  if (known) meta.set(META_KNOWN_STATE, { accounts: known.accounts + accounts, slots: known.slots + slots })
}

/** Collects keys by account. */
class WrittenKeys {
  private readonly accounts = new Map<string, { address: Uint8Array; isBase: boolean; baseSlots: Uint8Array[] }>()

  /** Adds an account, or a slot of one. */
  add(address: Uint8Array, slot?: Uint8Array): void {
    const key = keyOfBytes(address)
    const entry = this.accounts.get(key) ?? { address, isBase: false, baseSlots: [] }
    this.accounts.set(key, entry)
    if (slot === undefined) entry.isBase = true
    else entry.baseSlots.push(slot)
  }

  list(): LearnedAccount[] {
    return Array.from(this.accounts.values(), (each) => ({ ...each, slots: [] }))
  }
}

/** SQL of the first row of a key from a block on; parameters are bound once for each table. */
function firstRow(kind: 'account' | 'storage', where: string, incarnation: string): string {
  const first = (table: string) =>
    `SELECT * FROM (SELECT block_number AS block, ${incarnation} AS incarnation FROM ${table}
     WHERE ${where} AND block_number >= ? ORDER BY block_number LIMIT 1)`
  return `${first(`${kind}_history`)} UNION ALL ${first(`${kind}_recent`)} LIMIT 1`
}
