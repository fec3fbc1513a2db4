import { EMPTY_BYTES } from '../lib/bytes.js'
import { parseHex } from '../lib/hex.js'
import type { StateTrieHead, StateTrieTable } from '../store/state/stateTrieTable.js'
import { MAX_FIELDS, writeFields } from './accountFields.js'
import { KEY_BYTES, type TrieNodeRef } from './nodeFormat.js'
import { createPageCache, type PageCache } from './pageCache.js'
import { headOf } from './stateRoot.js'
import { createStateTries, type StateTries, updateState } from './stateTries.js'
import type { StateUpdates } from './stateUpdates.js'

/** A slot by its hash, 32 bytes, with its value without leading zeros. */
export interface HashedSlot {
  readonly hash: Uint8Array
  readonly value: Uint8Array
}

/** An account by the hash of its address, with its storage trie. */
export interface HashedAccount {
  readonly hash: Uint8Array // 32
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array // 32; `EMPTY_CODE_HASH` without code
  /** Undefined without storage. */
  readonly storage: TrieNodeRef | undefined
}

// Slots in memory.
const SLOTS_AT_ONCE = 10_000

/** Makes the tries of a state from the hashes of its addresses and slots, in pages of a table. */
export class HashedState {
  private readonly table: StateTrieTable
  private readonly pages: PageCache
  private readonly tries: StateTries
  private top: TrieNodeRef | undefined
  private count = 0

  /** Begins with an empty state, or with the one whose head was returned by `save`. Caches about `cacheBytes` of
   *  pages. */
  constructor(table: StateTrieTable, cacheBytes: number, from?: StateTrieHead) {
    this.table = table
    this.pages = createPageCache(table, cacheBytes)
    this.tries = createStateTries(this.pages)
    const top = parseHex(from?.top ?? '')
    this.top = top.length === 0 ? undefined : top
    this.count = from?.accounts ?? 0
    this.pages.reset(from?.nextPage ?? 1)
  }

  /** Adds slots with distinct hashes, ascending, to a storage trie that has none of them. @returns the new trie */
  private addSlots(storage: TrieNodeRef | undefined, slots: readonly HashedSlot[]): TrieNodeRef | undefined {
    const changes = {
      keys: keysOf(slots),
      change: (index: number, value: { bytes: Uint8Array; from: number; to: number }) => {
        value.bytes = slots[index].value
        value.from = 0
        value.to = value.bytes.length
      },
    }
    return this.tries.storage.apply(storage, changes, { from: 0, to: slots.length })
  }

  /** Returns the trie of slots that `read` returns in the order of their hashes: those above `after`, at most `limit`,
   *  and fewer at the end. In between, the pages so far are written, and `saved` is called. */
  storageTrie(
    read: (after: Uint8Array | undefined, limit: number) => readonly HashedSlot[],
    saved: () => void = () => {},
  ): TrieNodeRef | undefined {
    let storage: TrieNodeRef | undefined
    for (let after: Uint8Array | undefined; ; ) {
      const slots = read(after, SLOTS_AT_ONCE)
      storage = this.addSlots(storage, slots)
      if (slots.length < SLOTS_AT_ONCE) return storage
      after = slots.at(-1)!.hash
      this.save()
      saved()
    }
  }

  /** The root of a storage trie: 32 bytes. */
  storageRoot(storage: TrieNodeRef | undefined): Uint8Array {
    return this.tries.storage.root(storage)
  }

  /** Adds accounts with distinct hashes, ascending, that the state does not have. */
  addAccounts(accounts: readonly HashedAccount[]): void {
    this.top = updateState(this.tries, this.top, { updates: updatesOf(accounts), count: () => {} })
    this.count += accounts.length
  }

  /** The state root: 32 bytes. */
  root(): Uint8Array {
    return this.tries.accounts.root(this.top)
  }

  /** Writes the pages to the table, within its transaction. @returns the head of the trie so far */
  save(): StateTrieHead {
    this.pages.commit()
    this.pages.save()
    return headOf(this.tries, { top: this.top, accounts: this.count }, this.pages.nextPage)
  }

  /** Removes the pages of the table that are not of the state that it began with, within its transaction. */
  removeOthers(): void {
    this.table.removeFrom(this.pages.nextPage)
  }
}

function keysOf(entries: readonly { readonly hash: Uint8Array }[]): Uint8Array {
  const keys = new Uint8Array(entries.length * KEY_BYTES)
  entries.forEach(({ hash }, i) => {
    keys.set(hash, i * KEY_BYTES)
  })
  return keys
}

/** The accounts as changes of a state that has none of them. */
function updatesOf(accounts: readonly HashedAccount[]): StateUpdates {
  const fields = new Uint8Array(MAX_FIELDS)
  return {
    count: accounts.length,
    keys: keysOf(accounts),
    read: (index, update) => {
      const account = accounts[index]
      update.account.bytes = fields
      update.account.from = 0
      update.account.to = writeFields(fields, 0, account)
      update.cleared = false
      update.slotsFrom = 0
      update.slotsTo = 0
      update.storage = account.storage
    },
    slots: { keys: EMPTY_BYTES, change: () => {} },
  }
}
