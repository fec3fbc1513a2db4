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

// The EVM only compares the root with that of empty storage.
const SOME_STORAGE_ROOT = new Uint8Array(32)

// Entries kept between blocks; beyond it the caches are cleared.
const MAX_ENTRIES = 100_000

// Approximate bytes per address, slot and undo step, with their map and set entries.
const ENTRY_BYTES = 1000
const SLOT_BYTES = 400
const UNDO_BYTES = 300

/** A state in memory over a state provider, with an undo log: the EVM's state manager. Its promises are already
 *  resolved. */
export class Overlay implements StateManagerInterface {
  private readonly backing: StateProvider
  private readonly meter: MemoryMeter | undefined
  private entries = new Map<string, Entry>()
  private undo: (() => void)[] = []
  private checkpoints: number[] = []
  private newCodes = new Map<string, Uint8Array>()
  private originals = new Map<string, Uint8Array>()
  private changed = new Map<string, Set<string>>() // address to slots, since takeChanges
  private touched = new Map<string, Set<string>>() // the same, since takeTouched
  private clearedSinceTouched = new Set<string>()
  private readonly rootOf: (overlay: Overlay) => Uint8Array
  readonly originalStorageCache = {
    get: async (address: Address, slot: Uint8Array) => {
      const key = keyOfBytes(address.bytes) + keyOfBytes(slot)
      return this.originals.get(key) ?? this.readSlot(address.bytes, slot)
    },
    clear: () => {
      if (this.originals.size > 0) this.originals = new Map()
    },
  }

  /** Creates an overlay over `backing`. `rootOf` returns the state root if the EVM needs one (receipts before
   *  Byzantium). `meter` is charged before it grows. */
  constructor(backing: StateProvider, rootOf: (overlay: Overlay) => Uint8Array, meter?: MemoryMeter) {
    this.backing = backing
    this.rootOf = rootOf
    this.meter = meter
  }

  async getAccount({ bytes }: Address): Promise<Account | undefined> {
    const entry = this.entryOf(bytes)
    const account = toPackageAccount(entry.account)
    if (account && account.nonce === 0n && !entry.cleared && !account.isContract()) {
      // EIP-7610: no contract can be created at an address with storage, even without nonce and code.
      entry.hasStorage ??= this.backing.hasStorage(bytes)
      if (entry.hasStorage) account.storageRoot = SOME_STORAGE_ROOT
    }
    return account
  }

  async putAccount({ bytes }: Address, account?: Account): Promise<void> {
    if (account === undefined) this.setAccount(bytes, null)
    else this.setAccount(bytes, { nonce: account.nonce, balance: account.balance, codeHash: account.codeHash })
  }

  async deleteAccount({ bytes }: Address): Promise<void> {
    // The account does not exist: deleting it changes nothing and must leave no row behind.
    if (this.entryOf(bytes).account === null) return
    this.setAccount(bytes, null)
    this.clearStorageOf(bytes)
  }

  async modifyAccountFields({ bytes }: Address, fields: AccountFields): Promise<void> {
    const account = this.entryOf(bytes).account
    this.setAccount(bytes, applyFields(account, fields))
  }

  async putCode({ bytes }: Address, value: Uint8Array): Promise<void> {
    const codeHash = value.length === 0 ? EMPTY_CODE_HASH : keccak256(value)
    if (value.length > 0) this.newCodes.set(keyOfBytes(codeHash), value)
    const account = this.entryOf(bytes).account
    this.setAccount(bytes, { nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n, codeHash })
  }

  async getCode({ bytes }: Address): Promise<Uint8Array> {
    return this.codeOf(this.entryOf(bytes).account)
  }

  async getCodeSize({ bytes }: Address): Promise<number> {
    return this.codeOf(this.entryOf(bytes).account).length
  }

  async getStorage({ bytes }: Address, slot: Uint8Array): Promise<Uint8Array> {
    return this.readSlot(bytes, slot)
  }

  async putStorage({ bytes }: Address, slot: Uint8Array, value: Uint8Array): Promise<void> {
    const before = this.readSlot(bytes, slot)
    const key = keyOfBytes(slot)
    const originalKey = keyOfBytes(bytes) + key
    if (!this.originals.has(originalKey)) this.originals.set(originalKey, before)
    const { slots } = this.entryOf(bytes)
    this.meter?.take(UNDO_BYTES)
    this.undo.push(() => void slots.set(key, before))
    slots.set(key, trimLeft(value))
    this.mark(bytes, key)
  }

  async clearStorage({ bytes }: Address): Promise<void> {
    this.clearStorageOf(bytes)
  }

  async checkpoint(): Promise<void> {
    this.checkpoints.push(this.undo.length)
  }

  async commit(): Promise<void> {
    this.checkpoints.pop()
  }

  async revert(): Promise<void> {
    const length = this.checkpoints.pop() ?? 0
    while (this.undo.length > length) this.undo.pop()!()
  }

  async getStateRoot(): Promise<Uint8Array> {
    return this.rootOf(this)
  }

  async setStateRoot(): Promise<void> {
    throw new Error('the overlay has one state only')
  }

  async hasStateRoot(): Promise<boolean> {
    return false
  }

  clearCaches(): void {}

  shallowCopy(): never {
    throw new Error('the overlay cannot be copied')
  }

  /** Differences from the state provider since the last call. The caller must store them in the provider, from which
   *  the overlay then reads them. Only between transactions, with no open checkpoint. */
  takeChanges(): StateChanges {
    const changes = collectChanges(this.entries, this.changed, this.newCodes, this.backing)
    this.changed = new Map()
    this.newCodes = new Map()
    this.originals = new Map()
    this.undo = []
    for (const entry of this.entries.values()) entry.cleared = false
    if (this.entries.size > MAX_ENTRIES) this.entries = new Map()
    return changes
  }

  /** Addresses and slots touched since the last call of this method, for hashing the state: see `stateRoot`. */
  takeTouched(): TouchedAccount[] {
    const out: TouchedAccount[] = []
    for (const [key, slots] of this.touched) {
      const entry = this.entries.get(key)!
      const cleared = this.clearedSinceTouched.has(key)
      // After a clearing, slots may be set that were already marked before it, so all slots count.
      const names = cleared ? entry.slots.keys() : slots.values()
      out.push({
        address: entry.address,
        account: entry.account,
        cleared,
        slots: Array.from(names, (slot) => ({
          slot: bytesOf(slot),
          value: this.readSlot(entry.address, bytesOf(slot)),
        })),
      })
    }
    this.touched = new Map()
    this.clearedSinceTouched = new Set()
    return out
  }

  /** Drops everything in memory. Only after `takeChanges`, or to discard all changes. */
  clear(): void {
    this.entries = new Map()
    this.undo = []
    this.checkpoints = []
    this.newCodes = new Map()
    this.originals = new Map()
    this.changed = new Map()
    this.touched = new Map()
    this.clearedSinceTouched = new Set()
  }

  private entryOf(address: Uint8Array): Entry {
    const key = keyOfBytes(address)
    let entry = this.entries.get(key)
    if (!entry) {
      this.meter?.take(ENTRY_BYTES)
      entry = { address, account: this.backing.account(address)?.account ?? null, cleared: false, slots: new Map() }
      this.entries.set(key, entry)
    }
    return entry
  }

  private mark(address: Uint8Array, slot?: string): void {
    const key = keyOfBytes(address)
    for (const marks of [this.changed, this.touched]) {
      let slots = marks.get(key)
      if (!slots) {
        slots = new Set()
        marks.set(key, slots)
      }
      if (slot !== undefined) slots.add(slot)
    }
  }

  private setAccount(address: Uint8Array, account: StateAccount | null): void {
    const entry = this.entryOf(address)
    const before = entry.account
    this.meter?.take(UNDO_BYTES)
    this.undo.push(() => {
      entry.account = before
    })
    entry.account = account
    this.mark(address)
  }

  private clearStorageOf(address: Uint8Array): void {
    const entry = this.entryOf(address)
    const { cleared, slots } = entry
    const key = keyOfBytes(address)
    const known = this.clearedSinceTouched.has(key)
    this.undo.push(() => {
      entry.cleared = cleared
      entry.slots = slots
      if (!known) this.clearedSinceTouched.delete(key)
    })
    entry.cleared = true
    entry.slots = new Map()
    this.clearedSinceTouched.add(key)
    this.mark(address)
  }

  private readSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const entry = this.entryOf(address)
    const key = keyOfBytes(slot)
    let value = entry.slots.get(key)
    if (value === undefined) {
      this.meter?.take(SLOT_BYTES)
      value = entry.cleared ? EMPTY_BYTES : this.backing.storage(address, slot)
      entry.slots.set(key, value)
    }
    return value
  }

  private codeOf(account: StateAccount | null): Uint8Array {
    if (!account || equalBytes(account.codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES
    return this.newCodes.get(keyOfBytes(account.codeHash)) ?? this.backing.code(account.codeHash)
  }
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
