import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import type { StateAccount } from '../../chain/eth/stateAccount.js'
import { createByteLru } from '../../lib/byteLru.js'
import { EMPTY_BYTES, keyOfBytes, trimLeft } from '../../lib/bytes.js'
import { createGenerationCache } from '../../lib/generationCache.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { Storage } from '../../store/state/slotReader.js'
import { LATEST, type StateReader } from '../../store/state/stateReader.js'
import { LIMBS, type Words } from '../interpreter/words/words.js'
import type { SlotCache } from './slotCache.js'

/** Stored slots of one account. */
export interface StoredSlots {
  /** Copies the value of the slot that the word at `a` of `s` names to `to` of `into`. */
  read(s: Words, a: number, into: Words, to: number): void
}

/** The stored state below an overlay. */
export interface StateProvider {
  /** `account` undefined: it does not exist; the record undefined: it never existed. */
  account(address: Uint8Array): { incarnation: number; account?: StateAccount } | undefined
  /** The value without leading zeros. */
  storage(address: Uint8Array, slot: Uint8Array): Uint8Array
  /** Slots of an existing account, read by words. Only for immutable states. */
  slotsOf?(address: Uint8Array): StoredSlots
  code(hash: Uint8Array): Uint8Array
  /** True if any slot of the account's storage was ever set. */
  hasStorage(address: Uint8Array): boolean
}

/** The newest stored state, which advances with the stored blocks. */
export interface NewestState extends StateProvider {
  /** Applies changes that the caller stores before its next read. */
  wrote(changes: StateChanges): void
  /** Clears the cache, after changes that were not stored or were rolled back. */
  clear(): void
}

// For the reads of a call: some thousand slots.
const PROVIDER_BYTES = 8 * 2 ** 20

/** Creates the newest stored state, with about `maxBytes` cached in memory. */
export function createNewestState(
  reader: StateReader,
  { codes, maxBytes }: { codes: CodeCache; maxBytes: number },
): NewestState {
  return createCachedState({ reader, blockNumber: LATEST, codes }, maxBytes)
}

/** States at several blocks. */
export interface StateProviders {
  /** The state after a block, also identified by its hash because a reorg reuses the number. */
  at(blockNumber: number, blockHash: Uint8Array): StateProvider
}

// Calls target the head; a batch adds a block or two.
const MAX_PROVIDERS = 8

/** Creates states at recently used blocks, with about `maxBytes` cached in memory in total. With `slots`, slots are
 *  cached there; it must have been moved to the block whose slots are read. */
export function createStateProviders(
  reader: StateReader,
  {
    codes,
    slots,
    maxBytes = MAX_PROVIDERS * PROVIDER_BYTES,
  }: { codes: CodeCache; slots?: SlotCache; maxBytes?: number },
): StateProviders {
  const held = createByteLru<StateProvider>({ maxBytes: MAX_PROVIDERS, sizeOf: () => 1 })
  return {
    at: (blockNumber, blockHash) => {
      const key = keyOfBytes(blockHash)
      let backing = held.get(key)
      if (backing === undefined) {
        backing = createCachedState({ reader, blockNumber, codes, slots }, maxBytes / MAX_PROVIDERS)
        held.set(key, backing)
      }
      return backing
    },
  }
}

/** An account in memory. */
interface Entry {
  readonly record: { incarnation: number; account?: StateAccount } | undefined
  /** Undefined until looked up on first use. Not positive: the address has none yet (store/state/stateDump.ts). */
  addressId: number | undefined
  /** Prefix of its slot keys; each incarnation has its own. */
  readonly prefix: string
}

// A map entry with key and value; arrays and bigints are objects of about 100 bytes.
const ENTRY_BYTES = 500
const SLOT_BYTES = 300

interface StateParts {
  reader: StateReader
  blockNumber: number
  codes: CodeCache
  slots?: SlotCache
}

function createCachedState({ reader, blockNumber, codes, slots: shared }: StateParts, maxBytes: number): NewestState {
  const bound = { maxBytes: maxBytes / 2 }
  const accounts = createGenerationCache<string, Entry>({ ...bound, sizeOf: () => ENTRY_BYTES })
  const slots = createGenerationCache<string, Uint8Array>({ ...bound, sizeOf: () => SLOT_BYTES })
  let handles = 0
  const newPrefix = () => {
    handles = (handles + 1) >>> 0
    return String.fromCharCode(handles & 0xffff, handles >>> 16)
  }
  const load = (address: Uint8Array): Entry => {
    const stored = reader.account(address, blockNumber)
    if (stored === undefined) return { record: undefined, addressId: undefined, prefix: '' }
    const { addressId, incarnation, account } = stored
    const codeHash = account?.codeId === undefined ? EMPTY_CODE_HASH : codes.hashOf(account.codeId)
    const fields = account && { nonce: account.nonce, balance: account.balance, codeHash }
    return { record: { incarnation, account: fields }, addressId, prefix: newPrefix() }
  }
  const entryOf = (address: Uint8Array): Entry => {
    const key = keyOfBytes(address)
    let entry = accounts.get(key)
    if (entry === undefined) {
      entry = load(address)
      accounts.set(key, entry)
    }
    return entry
  }
  const idOf = (entry: Entry, address: Uint8Array): number | undefined => {
    entry.addressId ??= reader.addressId(address)
    return entry.addressId
  }
  const storageOf = (address: Uint8Array): Storage | undefined => {
    const entry = entryOf(address)
    const id = entry.record?.account === undefined ? undefined : idOf(entry, address)
    return id === undefined ? undefined : { addressId: id, incarnation: entry.record!.incarnation }
  }
  return {
    account: (address) => entryOf(address).record,
    storage: (address, slot) => {
      const entry = entryOf(address)
      if (entry.record?.account === undefined) return EMPTY_BYTES
      const key = entry.prefix + keyOfBytes(slot)
      let value = slots.get(key)
      if (value === undefined) {
        const id = idOf(entry, address)
        value = id === undefined ? EMPTY_BYTES : reader.storage(id, entry.record.incarnation, slot, blockNumber)
        slots.set(key, value)
      }
      return value
    },
    slotsOf: shared && ((address) => storedSlots(shared, blockNumber, storageOf(address))),
    code: (hash) => codes.byHash(hash),
    hasStorage: (address) => {
      const entry = entryOf(address)
      if (entry.record?.account === undefined) return false
      const id = idOf(entry, address)
      return id !== undefined && reader.hasStorage(id, entry.record.incarnation)
    },
    wrote: (changes) => {
      for (const { address, incarnation, account } of changes.accounts) {
        const key = keyOfBytes(address)
        const before = accounts.get(key)
        const goesOn = before?.record?.incarnation === incarnation
        accounts.set(key, {
          record: { incarnation, account: account && { ...account, codeHash: account.codeHash ?? EMPTY_CODE_HASH } },
          addressId: lastingId(before),
          prefix: goesOn ? before.prefix : newPrefix(),
        })
      }
      for (const { address, slot, value } of changes.storage) {
        // Slots are in memory only if their account is.
        const entry = accounts.get(keyOfBytes(address))
        if (entry === undefined) continue
        entry.addressId = lastingId(entry)
        slots.set(entry.prefix + keyOfBytes(slot), trimLeft(value))
      }
    },
    clear: () => {
      accounts.clear()
      slots.clear()
    },
  }
}

/** The id of an account whose changes are stored: they give it one in place of that of a state dump. */
function lastingId(entry: Entry | undefined): number | undefined {
  return entry?.addressId !== undefined && entry.addressId > 0 ? entry.addressId : undefined
}

function storedSlots(cache: SlotCache, blockNumber: number, storage: Storage | undefined): StoredSlots {
  if (storage === undefined) return { read: (_s, _a, into, to) => into.fill(0, to, to + LIMBS) }
  const cached = cache.storageOf(storage)
  return { read: (s, a, into, to) => cache.read(cached, blockNumber, s, a, into, to) }
}

/** Code by id and hash, cached up to a byte limit. */
export interface CodeCache {
  hashOf(codeId: number): Uint8Array
  /** Returns the same array for the same hash while it is cached, so analysis results can be kept beside it. */
  byHash(hash: Uint8Array): Uint8Array
}

// An array and its map entry.
const CODE_OVERHEAD = 300
const CODE_BYTES = 64 * 2 ** 20

/** Creates a code cache over the reader, of at most `maxBytes`. */
export function createCodeCache(reader: StateReader, maxBytes = CODE_BYTES): CodeCache {
  const hashes = createByteLru<Uint8Array, number>({ maxBytes: maxBytes / 16, sizeOf: () => CODE_OVERHEAD })
  const codes = createByteLru<Uint8Array>({
    maxBytes: (maxBytes * 15) / 16,
    sizeOf: (_, code) => code.length + CODE_OVERHEAD,
  })
  return {
    hashOf: (codeId) => {
      let hash = hashes.get(codeId)
      if (hash === undefined) {
        hash = reader.codeHash(codeId)
        hashes.set(codeId, hash)
      }
      return hash
    },
    byHash: (hash) => {
      const key = keyOfBytes(hash)
      let bytes = codes.get(key)
      if (bytes === undefined) {
        bytes = reader.codeByHash(hash)
        codes.set(key, bytes)
      }
      return bytes
    },
  }
}
