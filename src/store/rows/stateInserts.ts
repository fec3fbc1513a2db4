import { keyOfBytes, trimLeft } from '../../lib/bytes.js'
import { createBoundBytes } from '../boundBytes.js'
import { encodeUint } from '../columns.js'
import type { Database } from '../database.js'
import { dictionaryOf } from '../dictionary.js'
import { encodeStateEntry, type LearnedAccount, type LearnedState } from '../replication/stateEntry.js'
import { type StateEntry, type StateEntryKind, StateLog } from '../replication/stateLog.js'
import { createRowBatch, ROWS_AT_ONCE } from '../rowBatch.js'
import { type BaseRows, createBaseRows } from '../state/baseRows.js'
import { createSlotKeys, encodeAccountKeys } from '../state/changedKeys.js'
import { recentRowsOf } from '../state/recentRows.js'
import { readStateFirst } from '../state/sparseState.js'
import {
  type AccountRow,
  createAccountRows,
  createSlotRows,
  MAX_COLLECTED,
  NO_SLOT,
  type SlotRow,
} from './collectedRows.js'
import { type PackedChanges, packChanges, visitSlots } from './packedChanges.js'
import type { BaseState, StateChanges, UsedNodes } from './stateChanges.js'

/** Inserts of the rows of accounts and slots. */
export interface StateInserts {
  /** Adds the changes of a block; `flush` writes their rows at the latest. `isAtTip`: writes them at once to the small
   *  tables of recent rows, and moves some of these to the history if they have too many blocks. Otherwise moves recent
   *  rows first: all, or many, and then the block is written as at the tip. */
  insert(blockNumber: number, changes: StateChanges | PackedChanges, isAtTip?: boolean): void
  /** Writes base rows of sparse state, and the entry for replicas with what `learn` returns. `at`: the block in whose
   *  state they were proved. */
  insertBase(base: BaseState, at: number, learn: () => UsedNodes): void
  /** Writes the base rows of an entry that a writer made. */
  putEntry(entry: StateEntry, base: BaseState): void
  /** Writes all rows. */
  flush(): void
  /** Moves some recent rows to the history, in about a millisecond. @returns true when there are more, save those of
   *  blocks that were inserted since the first call that returned true */
  moveRecent(): boolean
  /** Number of blocks that have recent rows, at most. */
  recentBlocks(): number
  /** True when `moveRecent` pays: rows of several blocks share pages of the next table. */
  isMoveDue(): boolean
  /** Discards unwritten rows and cached ids. Call it after a rollback. */
  clear(): void
}

// With each block at most, while moves are urgent. Of 256 rows and 1.2 ms each: those of three blocks of mainnet's
// size. Most rows move twice.
const MOVES_OF_BLOCK = 16

/** How rows are written. */
interface StateInsertOptions {
  readonly collects?: boolean
  readonly mostCollected?: number
  /** Keep the entries of base rows for replicas. Default: false. */
  readonly logsState?: boolean
}

/** Creates the inserts over a database opened for writing. `collects`: writes rows of several blocks together in the
 *  order of their keys. Those that share a page follow each other, which takes half the time where blocks change places
 *  all over the state. */
export function createStateInserts(
  db: Database,
  { collects = false, mostCollected = MAX_COLLECTED, logsState = false }: StateInsertOptions = {},
): StateInserts {
  const history = createRowInserts(db, 'history')
  const tip = createRowInserts(db, 'tip')
  const recent = recentRowsOf(db)
  const selectCode = db.prepare<[Uint8Array], number>('SELECT id FROM code WHERE hash = ?').pluck()
  const insertKeys = db.prepare('INSERT INTO changed_keys (block_number, accounts, slots) VALUES (?, ?, ?)')
  const insertCode = db.prepare('INSERT INTO code (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')
  const dictionary = dictionaryOf(db, 'addresses')
  const accounts = collects ? createAccountRows(mostCollected) : undefined
  const slots = collects ? createSlotRows(mostCollected) : undefined
  const collected = { ...history, account: accounts?.add ?? history.account, slot: slots?.add ?? history.slot }
  const flush = () => {
    accounts?.take(history.account)
    slots?.take(history.slot)
    history.flush()
  }
  const slotKeys = createSlotKeys()
  const base = createBaseInserts(db, logsState)
  /** Chooses the tables for the rows of a block. */
  const choose = (blockNumber: number, isAtTip: boolean): RowInserts => {
    if (!isAtTip && recent.moveMany()) return collected
    for (let i = 0; i < MOVES_OF_BLOCK && recent.isMoveUrgent(); i++) recent.moveSome()
    recent.add(blockNumber)
    return tip
  }
  return {
    insert: (blockNumber, changes, isAtTip = false) => {
      const to = choose(blockNumber, isAtTip)
      const { addresses, codes, accounts: changed, storage, base: before } = packChanges(changes)
      if (before) base.insertOfBlock(blockNumber, before)
      const ids = dictionary.idsOf(addresses)
      for (const { hash, bytes } of codes) insertCode.run(hash, bytes)
      const addressIds: number[] = []
      for (const { address, incarnation, account } of changed) {
        if (accounts?.length === mostCollected) flush()
        const addressId = ids[address]
        addressIds.push(addressId)
        const codeId = account?.codeHash === undefined ? null : selectCode.get(account.codeHash)!
        const { nonce = 0n, balance } = account ?? {}
        to.account({ addressId, blockNumber, incarnation, nonce, balance, codeId })
      }
      const { bytes } = storage
      const row: SlotRow = { ...NO_SLOT, blockNumber, bytes }
      for (const group of storage.groups) {
        row.addressId = ids[group.address]
        row.incarnation = group.incarnation
        slotKeys.begin(row.addressId, group.incarnation, group.count)
        visitSlots(bytes, group, (slotFrom, slotTo, valueFrom, valueTo) => {
          if (slots?.length === mostCollected) flush()
          row.slotFrom = slotFrom
          row.slotTo = slotTo
          row.valueFrom = valueFrom
          row.valueTo = valueTo
          to.slot(row)
          slotKeys.add(bytes, slotFrom, slotTo)
        })
      }
      to.flush()
      if (addressIds.length + storage.length > 0) {
        insertKeys.run(blockNumber, encodeAccountKeys(addressIds), slotKeys.take())
      }
    },
    insertBase: base.insert,
    putEntry: base.putEntry,
    flush,
    recentBlocks: () => recent.blocks,
    isMoveDue: recent.isMoveDue,
    moveRecent: () => recent.moveSome(),
    clear: () => {
      recent.clear()
      history.clear()
      tip.clear()
      accounts?.clear()
      slots?.clear()
      slotKeys.take() // of a block whose insert failed
      dictionary.clear()
    },
  }
}

/** Writes base rows and the entries of `state_log`. */
function createBaseInserts(db: Database, logsState: boolean) {
  let prepared: { rows: BaseRows; log: StateLog } | undefined
  const prepare = () => {
    prepared ??= { rows: createBaseRows(db), log: new StateLog(db) }
    return prepared
  }
  const write = (kind: StateEntryKind, at: number, base: BaseState, learn: () => UsedNodes | undefined) => {
    const { rows, log } = prepare()
    const written = rows.insert(readStateFirst(db)!, base)
    const used = learn()
    if (logsState) log.add(kind, at, encodeStateEntry(learnedState(base, written, used)))
    else log.skip()
  }
  return {
    insert: (base: BaseState, at: number, learn: () => UsedNodes) => write('fetched', at, base, learn),
    insertOfBlock: (number: number, base: BaseState) => write('block', number - 1, base, () => base.used),
    putEntry: (entry: StateEntry, base: BaseState) => {
      const { rows, log } = prepare()
      const first = readStateFirst(db)
      if (first !== undefined) rows.insert(first, base)
      log.put(entry)
    },
  }
}

/** Joins the keys whose rows were written with those whose nodes were used. */
function learnedState(
  { accounts }: BaseState,
  written: readonly LearnedAccount[],
  { keys, nodes, branches }: UsedNodes = { keys: [], nodes: [], branches: [] },
): LearnedState {
  const byAddress = new Map(written.map((each) => [keyOfBytes(each.address), each]))
  for (const { address, slots } of keys) {
    const own = byAddress.get(keyOfBytes(address)) ?? { address, isBase: false, baseSlots: [], slots: [] }
    const isBase = new Set(own.baseSlots.map((slot) => keyOfBytes(trimLeft(slot))))
    const others = slots.filter((slot) => !isBase.has(keyOfBytes(trimLeft(slot))))
    byAddress.set(keyOfBytes(address), { ...own, slots: others })
  }
  const isWritten = ({ address }: { address: Uint8Array }) => byAddress.get(keyOfBytes(address))?.isBase
  const codeHashes = new Map<string, Uint8Array>()
  for (const each of accounts) {
    const codeHash = each.account?.codeHash
    if (codeHash !== undefined && isWritten(each)) codeHashes.set(keyOfBytes(codeHash), codeHash)
  }
  return { accounts: [...byAddress.values()], nodes, branches, codeHashes: [...codeHashes.values()] }
}

/** Writes rows. */
interface RowInserts {
  /** Adds a row; `flush` writes it at the latest. */
  account(row: Readonly<AccountRow>): void
  slot(row: Readonly<SlotRow>): void
  flush(): void
  /** Discards unwritten rows. */
  clear(): void
}

const ACCOUNT_COLUMNS = ['address_id', 'block_number', 'nonce', 'balance', 'code_id', 'incarnation']
const SLOT_COLUMNS = ['address_id', 'incarnation', 'slot', 'block_number', 'value']

function createRowInserts(db: Database, suffix: 'history' | 'tip'): RowInserts {
  const accounts = createRowBatch(db, `account_${suffix}`, ACCOUNT_COLUMNS)
  const slots = createRowBatch(db, `storage_${suffix}`, SLOT_COLUMNS)
  const [boundSlots, boundValues] = [1, 2].map(() => Array.from({ length: ROWS_AT_ONCE }, () => createBoundBytes(32)))
  return {
    account: ({ addressId, blockNumber, incarnation, nonce, balance, codeId }) => {
      const stored = balance === undefined ? null : encodeUint(balance)
      accounts.add(addressId, blockNumber, encodeUint(nonce), stored, codeId, incarnation)
    },
    slot: ({ addressId, incarnation, blockNumber, bytes, slotFrom, slotTo, valueFrom, valueTo }) => {
      const slot = boundSlots[slots.row](bytes, slotFrom, slotTo)
      const value = boundValues[slots.row](bytes, valueFrom, valueTo)
      slots.add(addressId, incarnation, slot, blockNumber, value)
    },
    flush: () => {
      accounts.flush()
      slots.flush()
    },
    clear: () => {
      accounts.clear()
      slots.clear()
    },
  }
}
