import { keccakInput } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { type PackedAccount, type PackedChanges, packChanges, visitSlots } from '../store/rows/packedChanges.js'
import type { AccountChange, StateChanges } from '../store/rows/stateChanges.js'
import type { StateReader } from '../store/state/stateReader.js'
import { MAX_FIELDS, writeFields } from './accountFields.js'
import { StorageOfOtherIncarnation, storedStateAccount } from './blockChanges.js'
import { KEY_BYTES } from './nodeFormat.js'
import { createRecordTable } from './recordTable.js'
import { createSlotNotes } from './slotNotes.js'
import type { AccountUpdate, StateUpdates } from './stateUpdates.js'
import { createKeySorter } from './trieChanges.js'

/** Collects the changes of consecutive blocks, so that a trie need not read their rows. An account takes about 150
 *  bytes of memory and a slot 100, up to twice as much right after growing; `updates` takes another 70 of each while
 *  they are applied. */
export interface ChangeNotes {
  /** Adds the changes of a block, in which equal addresses are one object. The rows of all blocks before the first one
   *  since `clear` must be stored.
   *  @returns false, and adds nothing, if there is no room
   *  @throws StorageOfOtherIncarnation for a slot that no account has; `clear` must follow */
  note(blockNumber: number, changes: StateChanges | PackedChanges): boolean
  /** Number of accounts and slots. */
  readonly size: number
  /** The accounts as they are after the last block. Valid until the next call of another method. */
  updates(): StateUpdates
  clear(): void
}

// A record of an account, in words of 4 bytes: 0, address, incarnation (2: high, low), `CLEARED_AT`, length of the
// fields, fields.
const ADDRESS_WORDS = 5
const INCARNATION = 1 + ADDRESS_WORDS
/** 1 more than the number of slot changes before the storage was cleared, which drops slots set before. 0: never. */
const CLEARED_AT = INCARNATION + 2
const LENGTH = CLEARED_AT + 1
const FIELDS = LENGTH + 1
const RECORD = FIELDS + Math.ceil(MAX_FIELDS / 4)

// Indexes of an address without changed slots, and of one whose account was not looked up.
const WITHOUT_SLOTS = -2
const NOT_KNOWN = -1

// Incarnation of an account that did not exist before.
const NO_INCARNATION = -1

/** Creates notes of at most `capacity` accounts and as many slots. Reads accounts that no noted block changed from
 *  `reader`. */
export function createChangeNotes(reader: StateReader, capacity: number): ChangeNotes {
  let accounts = createRecordTable(ADDRESS_WORDS, RECORD)
  let slots = createSlotNotes()

  const clear = () => {
    if (accounts.count === 0) return
    accounts = createRecordTable(ADDRESS_WORDS, RECORD)
    slots = createSlotNotes()
  }
  const setFields = (at: number, account: StateAccount | undefined) => {
    const start = 4 * (at + FIELDS)
    accounts.words[at + LENGTH] = account === undefined ? 0 : writeFields(accounts.bytes, start, account) - start
  }
  /** Returns the index of the account. Loads a new one as it was after block `before` if `isNeeded`. */
  const find = (address: Uint8Array, before: number, isNeeded: boolean): number => {
    const { count } = accounts
    const index = accounts.find(0, address)
    if (accounts.count === count) return index
    const row = isNeeded ? reader.account(address, before) : undefined
    setIncarnation(accounts.words, index * RECORD, row?.incarnation ?? NO_INCARNATION)
    if (row?.account) setFields(index * RECORD, storedStateAccount(reader, row.account))
    return index
  }
  const noteAccount = (
    address: Uint8Array,
    { incarnation, account }: PackedAccount,
    { before, hasSlots }: { before: number; hasSlots: boolean },
  ): number => {
    // Without code, slots and earlier incarnations there is no storage to clear, and the account before need not be
    // read.
    const mayClear = incarnation > 0 || account?.codeHash !== undefined || hasSlots
    const index = find(address, before, mayClear)
    const { words } = accounts
    const at = index * RECORD
    const held = incarnationOf(words, at)
    if (account === undefined || (held !== NO_INCARNATION && held !== incarnation)) {
      words[at + CLEARED_AT] = slots.changes + 1
    }
    setFields(at, account && stateAccountOf(account))
    setIncarnation(words, at, incarnation)
    return index
  }
  const note: ChangeNotes['note'] = (blockNumber, changes) => {
    const { addresses, accounts: changed, storage } = packChanges(changes)
    const most = changed.length + storage.length
    if (accounts.count + most > capacity || slots.count + most > capacity) return false
    const before = blockNumber - 1
    /** Account indexes by address. */
    const indexes = new Int32Array(addresses.length).fill(WITHOUT_SLOTS)
    for (const { address } of storage.groups) indexes[address] = NOT_KNOWN
    for (const change of changed) {
      const hasSlots = indexes[change.address] !== WITHOUT_SLOTS
      const index = noteAccount(addresses[change.address], change, { before, hasSlots })
      if (hasSlots) indexes[change.address] = index
    }
    const { bytes } = storage
    for (const group of storage.groups) {
      const { address, incarnation } = group
      const known = indexes[address]
      const index = known === NOT_KNOWN ? find(addresses[address], before, true) : known
      const at = index * RECORD
      if (accounts.words[at + LENGTH] === 0 || incarnationOf(accounts.words, at) !== incarnation) {
        throw new StorageOfOtherIncarnation(blockNumber, addresses[address])
      }
      visitSlots(bytes, group, (slotFrom, slotTo, valueFrom, valueTo) => {
        slots.set(index, bytes, slotFrom, slotTo, valueFrom, valueTo)
      })
    }
    return true
  }
  return {
    note,
    get size() {
      return accounts.count + slots.count
    },
    updates: () => {
      const { words, bytes, count } = accounts
      const { keys, order } = sortByHash(bytes, count)
      const since = Float64Array.from({ length: count }, (_, index) => {
        const at = index * RECORD
        return words[at + LENGTH] === 0 ? Number.POSITIVE_INFINITY : words[at + CLEARED_AT] - 1
      })
      const sorted = slots.sorted(since)
      const read = (index: number, update: AccountUpdate) => {
        const account = order[index]
        const at = account * RECORD
        update.account.bytes = bytes
        update.account.from = 4 * (at + FIELDS)
        update.account.to = update.account.from + words[at + LENGTH]
        update.cleared = words[at + CLEARED_AT] > 0
        update.slotsFrom = sorted.starts[account]
        update.slotsTo = sorted.starts[account + 1]
      }
      return { count, keys, read, slots: sorted.slots }
    },
    clear,
  }
}

function setIncarnation(words: Int32Array, at: number, incarnation: number): void {
  words[at + INCARNATION] = Math.floor(incarnation / 2 ** 32)
  words[at + INCARNATION + 1] = incarnation
}

function incarnationOf(words: Int32Array, at: number): number {
  return words[at + INCARNATION] * 2 ** 32 + (words[at + INCARNATION + 1] >>> 0)
}

function stateAccountOf({ nonce, balance, codeHash = EMPTY_CODE_HASH }: NonNullable<AccountChange['account']>) {
  return { nonce, balance, codeHash }
}

/** The hashes of the addresses of records in ascending order, and the records in that order. */
function sortByHash(records: Uint8Array, count: number): { keys: Uint8Array; order: Uint32Array } {
  const hashes = new Uint8Array(count * KEY_BYTES)
  for (let i = 0, at = 4; i < count; i++, at += 4 * RECORD) {
    for (let j = 0; j < 4 * ADDRESS_WORDS; j++) keccakInput.bytes[j] = records[at + j]
    keccakInput.hashInto(4 * ADDRESS_WORDS, hashes, i * KEY_BYTES)
  }
  const keys = new Uint8Array(hashes.length)
  return { keys, order: createKeySorter()(hashes, keys, { from: 0, to: count }) }
}
