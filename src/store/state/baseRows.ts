import { equalBytes, keyOfBytes, padLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { decodeUint, encodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { createMetaTable, META_KNOWN_STATE } from '../meta.js'
import type { LearnedAccount } from '../replication/stateEntry.js'
import { type KnownState, listedAround } from '../rows/coverage.js'
import type { BaseState } from '../rows/stateChanges.js'
import { eachBound, eachTable, fromTables, newestRow } from './historySql.js'
import { recentRowsOf } from './recentRows.js'
import { createRemoval } from './removeHistory.js'
import {
  BALANCE_KNOWN,
  baseIncarnation,
  CODE_KNOWN,
  countClosedStates,
  knownFields,
  ListedStateDiffers,
  NONCE_KNOWN,
  readListedStates,
  UNKNOWN_ACCOUNT,
} from './sparseState.js'

/** Writes base rows of sparse state (sparseState.ts). Those of keys without rows are written as the rows of blocks are:
 *  to the `_tip` tables while blocks have recent rows, else to the history. What changes rows of many keys moves the
 *  recent ones to the history first. */
export interface BaseRows {
  /** Writes the rows at `blockNumber`, within the caller's transaction. Rows that exist stay as they are, markers are
   *  replaced, and rows of accounts that are known in part are completed.
   *  @returns the keys whose base rows were written
   *  @throws BaseRowLate when a later row of a key exists without a base row, and is not of an access list: its base
   *  would be wrong; ListedStateDiffers */
  insert(blockNumber: number, base: BaseState): LearnedAccount[]
  /** Removes base rows at `blockNumber`, of the interval after `closed` others. Accounts that have earlier rows get
   *  markers. */
  remove(blockNumber: number, closed: number, keys: readonly LearnedAccount[]): void
  /** Writes a marker at `blockNumber`, above all rows, for each account that has rows. */
  mark(blockNumber: number): void
  /** Removes all rows at `blockNumber`. */
  removeAt(blockNumber: number): void
  /** Removes the base rows, at `blockNumber`, of accounts that do not exist and have no other rows. */
  removeAbsent(blockNumber: number): void
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
  const accountsIn = (table: string) =>
    `SELECT address_id AS id, address FROM ${table} JOIN addresses ON addresses.id = address_id
     WHERE block_number = ? AND incarnation <> ${UNKNOWN_ACCOUNT} AND address_id > ?`
  const accounts = db.prepare<number[], { id: number; address: Uint8Array }>(
    `${fromTables('account', accountsIn)} ORDER BY 1 LIMIT ${BATCH}`,
  )
  const slotsIn = (table: string) =>
    `SELECT slot FROM ${table} WHERE address_id = ? AND incarnation = ? AND block_number = ?`
  const slots = db.prepare<number[], Uint8Array>(`${fromTables('storage', slotsIn)} ORDER BY 1`).pluck()
  const incarnation = baseIncarnation(countClosedStates(db), true)
  // In batches, so that the connection may be used in between.
  for (let after = -1; ; ) {
    const batch = accounts.all(...eachBound(first, after))
    for (const { id, address } of batch) {
      yield { address, slots: slots.all(...eachBound(id, incarnation, first)).map((slot) => padLeft(slot, 32)) }
      after = id
    }
    if (batch.length < BATCH) return
  }
}

const BATCH = 1_000

type BaseAccount = BaseState['accounts'][number]

/** Prepares the statements over a database opened for writing. */
export function createBaseRows(db: Database): BaseRows {
  const dictionary = dictionaryOf(db, 'addresses')
  const recent = recentRowsOf(db)
  const insertCode = db.prepare('INSERT INTO code (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')
  const accounts = createAccountBases(db)
  const slots = createSlotBases(db)
  const removeAccount = createRemoval(db, 'account')
  const removeSlot = createRemoval(db, 'storage')
  const markAccount = db.prepare(
    `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
     SELECT address_id, ?, 0, NULL, NULL, ${UNKNOWN_ACCOUNT} FROM account_history
     WHERE address_id = ? AND block_number < ? LIMIT 1`,
  )
  return {
    insert: (blockNumber, base) => {
      const place = { blockNumber, closed: countClosedStates(db), isAtTip: recent.blocks > 0 }
      const inserted = { accounts: 0, slots: 0 }
      if (place.isAtTip) recent.addEarlier()
      const written = new WrittenKeys()
      for (const { hash, bytes } of base.codes) insertCode.run(hash, bytes)
      for (const each of base.accounts) {
        const outcome = accounts.insert(dictionary.idOf(each.address), each, place)
        if (outcome !== 'known') inserted.accounts++
        if (outcome === 'base') written.add(each.address)
      }
      for (const each of base.slots) {
        if (!slots.insert(dictionary.idOf(each.address), each, place)) continue
        inserted.slots++
        written.add(each.address, each.slot)
      }
      addKnown(db, inserted)
      return written.list()
    },
    remove: (blockNumber, closed, keys) => {
      const removed = { accounts: 0, slots: 0 }
      for (const { address, isBase, baseSlots } of keys) {
        const id = dictionary.idOf(address)
        const incarnation = baseIncarnation(closed, true)
        for (const slot of baseSlots) removed.slots -= Number(removeSlot(id, incarnation, slot, blockNumber))
        if (!isBase) continue
        removed.accounts -= Number(removeAccount(id, blockNumber))
        markAccount.run(blockNumber, id, blockNumber)
      }
      if (closed === countClosedStates(db)) addKnown(db, removed)
    },
    mark: (blockNumber) => {
      recent.moveAll()
      db.prepare(
        `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation)
         SELECT DISTINCT address_id, ?, 0, NULL, NULL, ${UNKNOWN_ACCOUNT} FROM account_history`,
      ).run(blockNumber)
    },
    removeAt: (blockNumber) => {
      recent.moveAll()
      for (const table of ['account_history', 'storage_history']) {
        db.prepare(`DELETE FROM ${table} WHERE block_number = ?`).run(blockNumber)
      }
    },
    removeAbsent: (blockNumber) => {
      recent.moveAll()
      const { changes } = db
        .prepare(
          `DELETE FROM account_history AS h WHERE block_number = ? AND balance IS NULL AND incarnation >= 0
           AND NOT EXISTS (SELECT 1 FROM account_history WHERE address_id = h.address_id AND block_number > h.block_number)`,
        )
        .run(blockNumber)
      addKnown(db, { accounts: -changes, slots: 0 })
    },
  }
}

const SLOT = 'address_id = ? AND incarnation = ? AND slot = ?'

interface BasePlace {
  /** The first block of the newest interval of states, and how many there are before it. */
  readonly blockNumber: number
  readonly closed: number
  /** Rows of keys without rows are written to the `_tip` tables. */
  readonly isAtTip: boolean
}

/** A row of an account. */
interface FieldsRow {
  readonly block: number
  readonly incarnation: number
  readonly nonce: StoredUint
  readonly balance: StoredUint | null
  readonly codeId: number | null
}

const FIELDS = 'block_number AS block, incarnation, nonce, balance, code_id AS codeId'

function createAccountBases(db: Database) {
  const selectCode = db.prepare<[Uint8Array], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const first = db.prepare<unknown[], number>(firstBlock('account', 'address_id = ?')).pluck()
  const last = db.prepare<unknown[], FieldsRow>(newestRow('account', FIELDS, 'address_id = ?'))
  const anySlots = eachTable('storage', (table) =>
    db.prepare<unknown[], number>(`SELECT 1 FROM ${table} WHERE address_id = ? AND incarnation = ? LIMIT 1`).pluck(),
  )
  const anySlot = (id: number, incarnation: number) => anySlots.some((each) => each.get(id, incarnation) !== undefined)
  const tables = eachTable('account', (table) => ({
    insert: db.prepare(
      `INSERT OR REPLACE INTO ${table} (address_id, block_number, nonce, balance, code_id, incarnation)
       VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    partial: db.prepare<unknown[], FieldsRow>(
      `SELECT ${FIELDS} FROM ${table} WHERE address_id = ? AND incarnation = ?`,
    ),
  }))
  const [tip, history] = [tables[0].insert, tables.at(-1)!.insert]
  /** Completes the rows of a partial account that know the same fields as its last one: no later block changed the
   *  rest. Earlier ones lack a field that changed. */
  const complete = (id: number, { address, account }: BaseAccount, row: FieldsRow, incarnation: number) => {
    const known = knownFields(row.incarnation)
    const codeId = account?.codeHash === undefined ? null : selectCode.get(account.codeHash)!
    const proved = { nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n, codeId }
    const merged = ({ nonce, balance, codeId: code }: FieldsRow) => ({
      nonce: known & NONCE_KNOWN ? decodeUint(nonce) : proved.nonce,
      balance: known & BALANCE_KNOWN ? decodeUint(balance!) : proved.balance,
      codeId: known & CODE_KNOWN ? code : proved.codeId,
    })
    requireProved(address, merged(row), proved)
    for (const table of tables) {
      for (const each of table.partial.all(id, row.incarnation)) {
        const { nonce, balance, codeId: code } = merged(each)
        const isEmpty = nonce === 0n && balance === 0n && code === null // EIP-161
        table.insert.run(id, each.block, encodeUint(nonce), isEmpty ? null : encodeUint(balance), code, incarnation)
      }
    }
  }
  return {
    /** Writes a base row, or completes rows, unless the account is known. */
    insert: (id: number, base: BaseAccount, place: BasePlace): 'known' | 'base' | 'completed' => {
      const { blockNumber, closed, isAtTip } = place
      const row = last.get(...eachBound(id))
      const start = row && first.get(...eachBound(id, blockNumber))
      if (start !== undefined && start > blockNumber) requireListed(db, start)
      if (row !== undefined && row.incarnation >= 0) return 'known'
      const slots = baseIncarnation(closed, true)
      const hasStorage = base.hasStorage || anySlot(id, slots)
      const incarnation = baseIncarnation(closed, hasStorage)
      if (row !== undefined && row.block > blockNumber) {
        complete(id, base, row, incarnation)
        return 'completed'
      }
      const { nonce = 0n, balance, codeHash } = base.account ?? {}
      const codeId = codeHash === undefined ? null : selectCode.get(codeHash)!
      const stored = balance === undefined ? null : encodeUint(balance)
      // Markers are in the history.
      const insert = isAtTip && row === undefined ? tip : history
      insert.run(id, blockNumber, encodeUint(nonce), stored, codeId, incarnation)
      return 'base'
    },
  }
}

function createSlotBases(db: Database) {
  const first = db.prepare<unknown[], number>(firstBlock('storage', SLOT)).pluck()
  const last = db.prepare<unknown[], Uint8Array>(newestRow('storage', 'value', SLOT)).pluck()
  const inserts = eachTable('storage', (table) =>
    db.prepare(`INSERT INTO ${table} (address_id, incarnation, slot, block_number, value) VALUES (?, ?, ?, ?, ?)`),
  )
  const [tip, history] = [inserts[0], inserts.at(-1)!]
  return {
    /** Returns true if the slot was not known. */
    insert: (
      id: number,
      { address, slot, value }: BaseState['slots'][number],
      { blockNumber, closed, isAtTip }: BasePlace,
    ): boolean => {
      const named = [id, baseIncarnation(closed, true), slot] as const
      const start = first.get(...eachBound<unknown>(...named, blockNumber))
      if (start === undefined) {
        const insert = isAtTip ? tip : history
        insert.run(...named, blockNumber, value)
        return true
      }
      if (start === blockNumber) return false
      requireListed(db, start)
      const listed = last.get(...eachBound<unknown>(...named))!
      if (equalBytes(listed, value)) return false
      const [what, ...values] = [slot, listed, value].map(formatData)
      throw new ListedStateDiffers(`slot ${what} of account ${formatData(address)}`, {
        listed: values[0],
        proved: values[1],
      })
    },
  }
}

/** @throws ListedStateDiffers */
function requireProved(address: Uint8Array, listed: Fields, proved: Fields): void {
  const describe = ({ nonce, balance, codeId }: Fields) =>
    `nonce ${nonce}, balance ${balance}, code ${codeId ?? 'none'}`
  const [own, other] = [listed, proved].map(describe)
  if (own !== other) throw new ListedStateDiffers(`account ${formatData(address)}`, { listed: own, proved: other })
}

interface Fields {
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeId: number | null
}

/** Requires that the first row of a key, if it is no base row, is of a block whose state comes from its access list.
 *  @throws BaseRowLate */
function requireListed(db: Database, block: number): void {
  if (listedAround({ listedStates: readListedStates(db) }, block)) return
  throw new BaseRowLate(block)
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

/** SQL of the block of the first row of a key from a block on; parameters are bound once for each table. */
function firstBlock(kind: 'account' | 'storage', where: string): string {
  const first = (table: string) =>
    `SELECT * FROM (SELECT block_number FROM ${table} WHERE ${where} AND block_number >= ? ORDER BY block_number LIMIT 1)`
  return `${eachTable(kind, first).reverse().join(' UNION ALL ')} LIMIT 1`
}
