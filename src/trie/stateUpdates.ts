import { keccak256Into } from '../chain/crypto.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { EMPTY_BYTES } from '../lib/bytes.js'
import { MAX_FIELDS, writeFields } from './accountFields.js'
import { KEY_BYTES, type TrieNodeRef } from './nodeFormat.js'
import { type ByteRange, createKeySorter, type SortedChanges } from './trieChanges.js'

/** A change of an account. */
export interface AccountUpdate {
  /** Encoded without its storage (accountFields.ts). Empty: it does not exist. */
  readonly account: ByteRange
  /** Its storage is cleared before the slots are set. */
  cleared: boolean
  /** Its changed slots are [slotsFrom, slotsTo) of the `StateUpdates`; none if it does not exist. */
  slotsFrom: number
  slotsTo: number
  /** The storage trie of a new account, if already built. */
  storage: TrieNodeRef | undefined
}

/** Creates an update to read into. */
export function createAccountUpdate(): AccountUpdate {
  const account = { bytes: EMPTY_BYTES, from: 0, to: 0 }
  return { account, cleared: false, slotsFrom: 0, slotsTo: 0, storage: undefined }
}

/** Changes of distinct accounts in the order of their keys. */
export interface StateUpdates {
  readonly count: number
  /** Hashes of the addresses, 32 bytes each. */
  readonly keys: Uint8Array
  /** Reads the change of an account; its bytes are valid until the next call. */
  read(index: number, update: AccountUpdate): void
  /** Changed slots by their hashes, sorted for each account. Values have no leading zeros. */
  readonly slots: SortedChanges
}

/** An account as it is after changes, and the slots that changed. */
export interface ChangedAccount {
  address: Uint8Array
  account: StateAccount | null
  cleared: boolean
  slots: { values(): Iterable<{ slot: Uint8Array; value: Uint8Array }> }
  /** See `AccountUpdate`. */
  storage?: TrieNodeRef
}

/** Changes that were hashed here, so that their names are known. */
export interface HashedUpdates extends StateUpdates {
  /** The account of a change. */
  accountAt(index: number): ChangedAccount
  /** The address and the slot of a changed slot. */
  slotAt(index: number): { address: Uint8Array; slot: Uint8Array }
}

/** Changes of distinct accounts, hashed and sorted. */
export function hashUpdates(changed: readonly ChangedAccount[]): HashedUpdates {
  const sort = createKeySorter()
  const given = new Uint8Array(changed.length * KEY_BYTES)
  changed.forEach(({ address }, i) => {
    keccak256Into(address, given, i * KEY_BYTES)
  })
  const keys = new Uint8Array(given.length)
  const order = sort(given, keys, { from: 0, to: changed.length }).slice(0, changed.length)
  const slots: { slot: Uint8Array; value: Uint8Array }[] = []
  const starts = Array.from(order, (index) => {
    const { account, slots: own } = changed[index]
    const start = slots.length
    if (account !== null) for (const each of own.values()) slots.push(each)
    return start
  })
  starts.push(slots.length)
  const slotsGiven = new Uint8Array(slots.length * KEY_BYTES)
  slots.forEach(({ slot }, i) => {
    keccak256Into(slot, slotsGiven, i * KEY_BYTES)
  })
  const slotKeys = new Uint8Array(slotsGiven.length)
  const sorted: { slot: Uint8Array; value: Uint8Array }[] = []
  for (let i = 0; i < changed.length; i++) {
    const [from, to] = [starts[i], starts[i + 1]]
    const orderOfSlots = from === to ? order : sort(slotsGiven, slotKeys, { from, to })
    for (let j = 0; j < to - from; j++) sorted.push(slots[from + orderOfSlots[j]])
  }
  const change: SortedChanges['change'] = (index, value) => {
    value.bytes = sorted[index].value
    value.from = 0
    value.to = value.bytes.length
  }
  const fields = new Uint8Array(MAX_FIELDS)
  const read = (index: number, update: AccountUpdate) => {
    const { account, cleared, storage } = changed[order[index]]
    update.account.bytes = fields
    update.account.to = account === null ? 0 : writeFields(fields, 0, account)
    update.cleared = cleared
    update.slotsFrom = starts[index]
    update.slotsTo = starts[index + 1]
    update.storage = storage
  }
  const accountAt = (index: number) => changed[order[index]]
  const slotAt = (index: number) => {
    const account = starts.findIndex((start, i) => start <= index && index < starts[i + 1])
    return { address: accountAt(account).address, slot: sorted[index].slot }
  }
  return { count: changed.length, keys, read, slots: { keys: slotKeys, change }, accountAt, slotAt }
}
