import type { AccountFields, StateManagerInterface } from '@ethereumjs/common'
import { Account, type Address } from '@ethereumjs/util'
import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import type { StateAccount } from '../../chain/eth/stateAccount.js'
import { EMPTY_BYTES, equalBytes, keyOfBytes, trimLeft } from '../../lib/bytes.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import type { MemoryMeter } from '../interpreter/memoryMeter.js'
import type { StateProvider } from '../state/stateProvider.js'

/** The overlay's entry of one address. `account` null: it does not exist. */
interface Entry {
  address: Uint8Array
  account: StateAccount | null
  /** True if the storage was cleared since the last `takeChanges`: the provider's slots are ignored. */
  cleared: boolean
  slots: Map<string, Uint8Array> // by the slot's 32 bytes as latin1; values without leading zeros
  /** Whether the provider has slots of it; looked up only when a contract could be created. */
  hasStorage?: boolean
}

/** A state in memory over a state provider, with an undo log: the EVM's state manager. Its promises are already
 *  resolved. */
export interface Overlay extends StateManagerInterface {
  /** Differences from the state provider since the last call. The caller must store them in the provider, from which
   *  the overlay then reads them. Only between transactions, with no open checkpoint. */
  takeChanges(): StateChanges
  /** Addresses and slots touched since the last call of this method, for hashing the state: see `stateRoot`. */
  takeTouched(): TouchedAccount[]
  /** Drops everything in memory. Only after `takeChanges`, or to discard all changes. */
  forget(): void
}

// The EVM only compares the root with that of empty storage.
const SOME_STORAGE_ROOT = new Uint8Array(32)

// Entries kept between blocks; beyond it the caches are cleared.
const MAX_ENTRIES = 100_000

// Approximate bytes per address, slot and undo step, with their map and set entries.
const ENTRY_BYTES = 1000
const SLOT_BYTES = 400
const UNDO_BYTES = 300

/** Creates an overlay over `backing`. `rootOf` returns the state root if the EVM needs one (receipts before Byzantium).
 *  `meter` is charged before it grows. */
export function createOverlay(
  backing: StateProvider,
  rootOf: (overlay: Overlay) => Uint8Array,
  meter?: MemoryMeter,
): Overlay {
  let entries = new Map<string, Entry>()
  let undo: (() => void)[] = []
  let checkpoints: number[] = []
  let newCodes = new Map<string, Uint8Array>()
  let originals = new Map<string, Uint8Array>()
  let changed = new Map<string, Set<string>>() // address to slots, since takeChanges
  let touched = new Map<string, Set<string>>() // the same, since takeTouched
  let clearedSinceTouched = new Set<string>()

  const entryOf = (address: Uint8Array): Entry => {
    const key = keyOfBytes(address)
    let entry = entries.get(key)
    if (!entry) {
      meter?.take(ENTRY_BYTES)
      entry = { address, account: backing.account(address)?.account ?? null, cleared: false, slots: new Map() }
      entries.set(key, entry)
    }
    return entry
  }
  const mark = (address: Uint8Array, slot?: string) => {
    const key = keyOfBytes(address)
    for (const marks of [changed, touched]) {
      let slots = marks.get(key)
      if (!slots) {
        slots = new Set()
        marks.set(key, slots)
      }
      if (slot !== undefined) slots.add(slot)
    }
  }
  const setAccount = (address: Uint8Array, account: StateAccount | null) => {
    const entry = entryOf(address)
    const before = entry.account
    meter?.take(UNDO_BYTES)
    undo.push(() => {
      entry.account = before
    })
    entry.account = account
    mark(address)
  }
  const clearStorageOf = (address: Uint8Array) => {
    const entry = entryOf(address)
    const { cleared, slots } = entry
    const key = keyOfBytes(address)
    const known = clearedSinceTouched.has(key)
    undo.push(() => {
      entry.cleared = cleared
      entry.slots = slots
      if (!known) clearedSinceTouched.delete(key)
    })
    entry.cleared = true
    entry.slots = new Map()
    clearedSinceTouched.add(key)
    mark(address)
  }
  const readSlot = (address: Uint8Array, slot: Uint8Array): Uint8Array => {
    const entry = entryOf(address)
    const key = keyOfBytes(slot)
    let value = entry.slots.get(key)
    if (value === undefined) {
      meter?.take(SLOT_BYTES)
      value = entry.cleared ? EMPTY_BYTES : backing.storage(address, slot)
      entry.slots.set(key, value)
    }
    return value
  }
  const codeOf = (account: StateAccount | null): Uint8Array => {
    if (!account || equalBytes(account.codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES
    return newCodes.get(keyOfBytes(account.codeHash)) ?? backing.code(account.codeHash)
  }

  const overlay: Overlay = {
    getAccount: async ({ bytes }) => {
      const entry = entryOf(bytes)
      const account = toPackageAccount(entry.account)
      if (account && account.nonce === 0n && !entry.cleared && !account.isContract()) {
        // EIP-7610: no contract can be created at an address with storage, even without nonce and code.
        entry.hasStorage ??= backing.hasStorage(bytes)
        if (entry.hasStorage) account.storageRoot = SOME_STORAGE_ROOT
      }
      return account
    },
    putAccount: async ({ bytes }, account) => {
      if (account === undefined) setAccount(bytes, null)
      else setAccount(bytes, { nonce: account.nonce, balance: account.balance, codeHash: account.codeHash })
    },
    deleteAccount: async ({ bytes }) => {
      // The account does not exist: deleting it changes nothing and must leave no row behind.
      if (entryOf(bytes).account === null) return
      setAccount(bytes, null)
      clearStorageOf(bytes)
    },
    modifyAccountFields: async ({ bytes }, fields) => {
      const account = entryOf(bytes).account
      setAccount(bytes, applyFields(account, fields))
    },
    putCode: async ({ bytes }, value) => {
      const codeHash = value.length === 0 ? EMPTY_CODE_HASH : keccak256(value)
      if (value.length > 0) newCodes.set(keyOfBytes(codeHash), value)
      const account = entryOf(bytes).account
      setAccount(bytes, { nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n, codeHash })
    },
    getCode: async ({ bytes }) => codeOf(entryOf(bytes).account),
    getCodeSize: async ({ bytes }) => codeOf(entryOf(bytes).account).length,
    getStorage: async ({ bytes }, slot) => readSlot(bytes, slot),
    putStorage: async ({ bytes }, slot, value) => {
      const before = readSlot(bytes, slot)
      const key = keyOfBytes(slot)
      const originalKey = keyOfBytes(bytes) + key
      if (!originals.has(originalKey)) originals.set(originalKey, before)
      const { slots } = entryOf(bytes)
      meter?.take(UNDO_BYTES)
      undo.push(() => void slots.set(key, before))
      slots.set(key, trimLeft(value))
      mark(bytes, key)
    },
    clearStorage: async ({ bytes }) => clearStorageOf(bytes),
    checkpoint: async () => void checkpoints.push(undo.length),
    commit: async () => {
      checkpoints.pop()
    },
    revert: async () => {
      const length = checkpoints.pop() ?? 0
      while (undo.length > length) undo.pop()!()
    },
    getStateRoot: async () => rootOf(overlay),
    setStateRoot: async () => {
      throw new Error('the overlay has one state only')
    },
    hasStateRoot: async () => false,
    originalStorageCache: {
      get: async (address: Address, slot: Uint8Array) => {
        const key = keyOfBytes(address.bytes) + keyOfBytes(slot)
        return originals.get(key) ?? readSlot(address.bytes, slot)
      },
      clear: () => {
        if (originals.size > 0) originals = new Map()
      },
    },
    clearCaches: () => {},
    shallowCopy: () => {
      throw new Error('the overlay cannot be copied')
    },
    takeChanges: () => {
      const changes = collectChanges(entries, changed, newCodes, backing)
      changed = new Map()
      newCodes = new Map()
      originals = new Map()
      undo = []
      for (const entry of entries.values()) entry.cleared = false
      if (entries.size > MAX_ENTRIES) entries = new Map()
      return changes
    },
    takeTouched: () => {
      const out: TouchedAccount[] = []
      for (const [key, slots] of touched) {
        const entry = entries.get(key)!
        const cleared = clearedSinceTouched.has(key)
        // After a clearing, slots may be set that were already marked before it, so all slots count.
        const names = cleared ? entry.slots.keys() : slots.values()
        out.push({
          address: entry.address,
          account: entry.account,
          cleared,
          slots: Array.from(names, (slot) => ({ slot: bytesOf(slot), value: readSlot(entry.address, bytesOf(slot)) })),
        })
      }
      touched = new Map()
      clearedSinceTouched = new Set()
      return out
    },
    forget: () => {
      entries = new Map()
      undo = []
      checkpoints = []
      newCodes = new Map()
      originals = new Map()
      changed = new Map()
      touched = new Map()
      clearedSinceTouched = new Set()
    },
  }
  return overlay
}

function collectChanges(
  entries: Map<string, Entry>,
  changed: Map<string, Set<string>>,
  newCodes: Map<string, Uint8Array>,
  backing: StateProvider,
): StateChanges {
  const changes: StateChanges = { accounts: [], storage: [], codes: [] }
  for (const [key, slots] of changed) {
    const { address, account, cleared, slots: values } = entries.get(key)!
    const before = backing.account(address)
    const existed = before?.account !== undefined
    let incarnation = before?.incarnation ?? 0
    if (account === null) {
      if (existed) changes.accounts.push({ address, incarnation: incarnation + 1 })
      continue
    }
    if (cleared && existed) incarnation += 1
    if (!existed || incarnation !== before.incarnation || !sameAccount(before.account!, account)) {
      const codeHash = equalBytes(account.codeHash, EMPTY_CODE_HASH) ? undefined : account.codeHash
      changes.accounts.push({
        address,
        incarnation,
        account: { nonce: account.nonce, balance: account.balance, codeHash },
      })
    }
    const fresh = !existed || incarnation !== before.incarnation
    for (const slotKey of cleared ? values.keys() : slots) {
      const value = values.get(slotKey)
      if (value === undefined) continue // slot of a storage that was cleared afterwards
      const slot = bytesOf(slotKey)
      const old = fresh ? EMPTY_BYTES : backing.storage(address, slot)
      if (!equalBytes(old, value)) changes.storage.push({ address, incarnation, slot, value })
    }
  }
  for (const [hash, bytes] of newCodes) changes.codes.push({ hash: bytesOf(hash), bytes })
  return changes
}

function sameAccount(a: StateAccount, b: StateAccount): boolean {
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash)
}

// The EVM modifies account objects, so each call gets its own.
function toPackageAccount(account: StateAccount | null): Account | undefined {
  return account === null ? undefined : new Account(account.nonce, account.balance, undefined, account.codeHash)
}

function applyFields(account: StateAccount | null, fields: AccountFields): StateAccount {
  return {
    nonce: fields.nonce ?? account?.nonce ?? 0n,
    balance: fields.balance ?? account?.balance ?? 0n,
    codeHash: fields.codeHash ?? account?.codeHash ?? EMPTY_CODE_HASH,
  }
}

function bytesOf(key: string): Uint8Array {
  return new Uint8Array(Buffer.from(key, 'latin1'))
}
