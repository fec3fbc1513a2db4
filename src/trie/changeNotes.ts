import { keccak256 } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { createByteIds } from '../lib/byteIds.js'
import { trimLeft } from '../lib/bytes.js'
import type { AccountChange, StateChanges, StorageChange } from '../store/chain/stateChanges.js'
import type { StateReader } from '../store/state/stateReader.js'
import { StorageOfOtherIncarnation, storedStateAccount } from './blockChanges.js'
import type { TrieUpdate } from './stateTrie.js'
import type { AccountUpdate } from './stateTries.js'

/** Collects what blocks changed, one after another, for a trie that need not read their rows: an account takes about 300 bytes of
 *  memory, a slot 130. */
export interface ChangeNotes {
  /** Takes the changes of a block, in which equal addresses are one object. The rows of all blocks before the first one since `forget` must be stored.
   *  @returns false, and takes nothing, when there is no room
   *  @throws StorageOfOtherIncarnation for a slot that no account has; `forget` must follow */
  note(blockNumber: number, changes: StateChanges): boolean
  /** Accounts and slots. */
  readonly size: number
  /** The accounts with their hashed keys, as they are after the last block. Valid until the next call of another method. */
  updates(): AccountUpdate[]
  forget(): void
}

interface NotedAccount {
  readonly key: Uint8Array // hash of the address
  account: StateAccount | null
  incarnation: number | undefined
  cleared: boolean
  /** Slots that were set before this count of changes are cleared. */
  clearedAt: number
}

const WORD = 32
const SLOT_KEY = 4 + WORD // index of the account, slot

/** Reads accounts that the blocks did not change before. Takes at most `capacity` accounts and as many slots. */
export function createChangeNotes(reader: StateReader, capacity: number): ChangeNotes {
  let accountIds = createByteIds(20, capacity)
  let slotIds = createByteIds(SLOT_KEY, capacity)
  let accounts: NotedAccount[] = []
  let slots = createSlotNotes()
  const slotKey = new Uint8Array(SLOT_KEY)
  const slotKeyView = new DataView(slotKey.buffer)

  const forget = () => {
    if (accounts.length === 0) return
    accountIds = createByteIds(20, capacity)
    slotIds = createByteIds(SLOT_KEY, capacity)
    accounts = []
    slots = createSlotNotes()
  }
  /** The index of the account; a new one is as it was after block `before` where that is needed. */
  const find = (address: Uint8Array, before: number, isNeeded: boolean): number => {
    const known = accountIds.get(address)
    if (known !== undefined) return known
    const row = isNeeded ? reader.account(address, before) : undefined
    const account = row?.account ? storedStateAccount(reader, row.account) : null
    accounts.push({ key: keccak256(address), account, incarnation: row?.incarnation, cleared: false, clearedAt: 0 })
    accountIds.add(address, accounts.length - 1)
    return accounts.length - 1
  }
  const noteAccount = ({ address, incarnation, account }: AccountChange, before: number, hasSlots: boolean) => {
    // Without code, slots and earlier incarnations there is no storage to clear, and the account before need not be read.
    const mayClear = incarnation > 0 || account?.codeHash !== undefined || hasSlots
    const noted = accounts[find(address, before, mayClear)]
    if (account === undefined || (noted.incarnation !== undefined && noted.incarnation !== incarnation)) {
      noted.cleared = true
      noted.clearedAt = slots.changes
    }
    noted.account = stateAccountOf(account)
    noted.incarnation = incarnation
  }
  const noteSlot = (index: number, { slot, value }: StorageChange) => {
    slotKeyView.setUint32(0, index)
    slotKey.set(slot, 4)
    let entry = slotIds.get(slotKey)
    if (entry === undefined) {
      entry = slots.add(index, slot)
      slotIds.add(slotKey, entry)
    }
    slots.set(entry, trimLeft(value))
  }
  const note = (blockNumber: number, changes: StateChanges): boolean => {
    const most = changes.accounts.length + changes.storage.length
    if (accounts.length + most > capacity || slots.count + most > capacity) return false
    const before = blockNumber - 1
    const withSlots = new Set<Uint8Array>()
    for (const { address } of changes.storage) withSlots.add(address)
    for (const change of changes.accounts) noteAccount(change, before, withSlots.has(change.address))
    let last: { address: Uint8Array; index: number } | undefined
    for (const change of changes.storage) {
      const { address, incarnation } = change
      if (address !== last?.address) last = { address, index: find(address, before, true) }
      const noted = accounts[last.index]
      if (noted.account === null || noted.incarnation !== incarnation) {
        throw new StorageOfOtherIncarnation(blockNumber, address)
      }
      noteSlot(last.index, change)
    }
    return true
  }
  return {
    note,
    get size() {
      return accounts.length + slots.count
    },
    updates: () => {
      const slotsOf = slots.byAccount(accounts.length)
      return accounts.map(({ key, account, cleared, clearedAt }, index) => ({
        key,
        account,
        cleared,
        get slots() {
          return account === null ? [] : slotsOf(index, clearedAt)
        },
      }))
    },
    forget,
  }
}

function stateAccountOf(account: AccountChange['account']): StateAccount | null {
  if (!account) return null
  const { nonce, balance, codeHash = EMPTY_CODE_HASH } = account
  return { nonce, balance, codeHash: codeHash === EMPTY_CODE_HASH ? codeHash : codeHash.slice() }
}

const FIRST_ROOM = 4096

/** Slots and their last values, in arrays that grow. */
function createSlotNotes() {
  let room = FIRST_ROOM
  let bytes = new Uint8Array(2 * WORD * room) // slot, value
  let lengths = new Uint8Array(room) // of values
  let owners = new Uint32Array(room)
  let changedAt = new Float64Array(room)
  let count = 0
  let changes = 0
  const grow = () => {
    room *= 2
    const [oldBytes, oldLengths, oldOwners, oldChangedAt] = [bytes, lengths, owners, changedAt]
    bytes = new Uint8Array(2 * WORD * room)
    bytes.set(oldBytes)
    lengths = new Uint8Array(room)
    lengths.set(oldLengths)
    owners = new Uint32Array(room)
    owners.set(oldOwners)
    changedAt = new Float64Array(room)
    changedAt.set(oldChangedAt)
  }
  const updateOf = (entry: number): TrieUpdate => {
    const at = 2 * WORD * entry
    const length = lengths[entry]
    return {
      key: keccak256(bytes.subarray(at, at + WORD)),
      change: () => (length === 0 ? undefined : bytes.subarray(at + WORD, at + WORD + length)),
    }
  }
  return {
    get count() {
      return count
    },
    /** Calls of `set`. */
    get changes() {
      return changes
    },
    add: (owner: number, slot: Uint8Array): number => {
      if (count === room) grow()
      bytes.set(slot, 2 * WORD * count)
      owners[count] = owner
      return count++
    },
    set: (entry: number, value: Uint8Array) => {
      bytes.set(value, 2 * WORD * entry + WORD)
      lengths[entry] = value.length
      changedAt[entry] = changes++
    },
    /** @returns a function that gives the updates of an account, those set from a count of changes on */
    byAccount: (accounts: number) => {
      const starts = new Uint32Array(accounts + 1)
      for (let entry = 0; entry < count; entry++) starts[owners[entry] + 1]++
      for (let i = 0; i < accounts; i++) starts[i + 1] += starts[i]
      const next = starts.slice()
      const entries = new Uint32Array(count)
      for (let entry = 0; entry < count; entry++) entries[next[owners[entry]]++] = entry
      return (account: number, from: number): TrieUpdate[] => {
        const own: TrieUpdate[] = []
        for (const entry of entries.subarray(starts[account], starts[account + 1])) {
          if (changedAt[entry] >= from) own.push(updateOf(entry))
        }
        return own
      }
    },
  }
}
