import { keccak256 } from '../chain/crypto.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { EMPTY_BYTES, keyOfBytes } from '../lib/bytes.js'
import { formatData, parseHex } from '../lib/hex.js'
import type { StateTrieHead, StateTrieTable } from '../store/state/stateTrieTable.js'
import type { TrieNodeRef } from './nodeRef.js'
import { createPageCache } from './pageCache.js'
import { createMemoryPages } from './stateTrie.js'
import { createStateTries, type StateTries, toTrieUpdate } from './stateTries.js'
import type { TouchedAccount } from './touchedAccount.js'

/** The root of the newest state (Yellow Paper, 4.1), updated with each block. The tries are pages in the database; a
 *  bounded part is in memory, and only touched pages are read. */
export interface StateRoot {
  /** Takes the current accounts, which are hashed when a root is requested. */
  note(touched: readonly TouchedAccount[]): void
  /** The root of everything noted: 32 bytes. */
  root(): Uint8Array
  /** Notes the accounts and returns the root. */
  update(touched: readonly TouchedAccount[]): Uint8Array
  /** Noted accounts and slots that are not hashed yet. */
  readonly pending: number
  /** Number of accounts in the last hashed state. */
  readonly accounts: number
  /** Makes noted changes permanent for `discard`. */
  settle(): void
  /** Drops what was noted since `settle`. */
  discard(): void
  /** Writes settled changes to the database within its transaction; it then holds the trie of the settled state. Call it
   *  before each commit of a state. */
  save(): void
  /** Drops everything in memory and reloads from the database, after a rollback. */
  reset(): void
}

interface PendingAccount {
  address: Uint8Array
  account: StateAccount | null
  cleared: boolean
  slots: Map<string, { slot: Uint8Array; value: Uint8Array }>
}

/** The root over the stored trie, or of an empty state. Caches about `maxBytes` of pages. */
export function createStateRoot(table: StateTrieTable, maxBytes: number): StateRoot {
  const pages = createPageCache(table, maxBytes)
  const tries = createStateTries(pages)
  let pending = new Map<string, PendingAccount>()
  let pendingSlots = 0
  let now: { top: TrieNodeRef | undefined; accounts: number } = { top: undefined, accounts: 0 }
  let settled = now
  let saved = now

  const reset = () => {
    const head = table.head()
    const top = parseHex(head?.top ?? '')
    now = { top: top.length === 0 ? undefined : top, accounts: head?.accounts ?? 0 }
    settled = now
    saved = now
    pending = new Map()
    pendingSlots = 0
    pages.reset(head?.nextPage ?? 1)
  }
  const note = (touched: readonly TouchedAccount[]) => {
    for (const each of touched) {
      const key = keyOfBytes(each.address)
      const gone = each.cleared || each.account === null
      const before = pending.get(key)
      if (before !== undefined && gone) pendingSlots -= before.slots.size
      const slots = before === undefined || gone ? new Map() : before.slots
      pendingSlots -= slots.size
      if (each.account !== null) for (const entry of each.slots) slots.set(keyOfBytes(entry.slot), entry)
      pendingSlots += slots.size
      const cleared = gone || (before?.cleared ?? false)
      pending.set(key, { address: each.address, account: each.account, cleared, slots })
    }
  }
  const hash = () => {
    if (pending.size === 0) return
    let { accounts } = now
    const count = (difference: number) => {
      accounts += difference
    }
    const updates = Array.from(pending.values(), (each) => toTrieUpdate(tries, hashed(each), count))
    pending = new Map()
    pendingSlots = 0
    const top = tries.accounts.update(now.top, updates)
    now = { top: top?.slice(), accounts }
  }
  const root = () => {
    hash()
    return tries.accounts.root(now.top)
  }
  const settle = () => {
    hash()
    settled = now
    pages.settle()
  }
  reset()
  return {
    note,
    root,
    update: (touched) => {
      note(touched)
      return root()
    },
    get pending() {
      return pending.size + pendingSlots
    },
    get accounts() {
      return now.accounts
    },
    settle,
    discard: () => {
      pending = new Map()
      pendingSlots = 0
      now = settled
      pages.discard()
    },
    save: () => {
      settle()
      if (saved === now) return
      pages.save()
      const { top, accounts } = now
      table.setHead(headOf(tries, { top, accounts }, pages.nextPage))
      saved = now
    },
    reset,
  }
}

/** The table's metadata of a trie. */
export function headOf(
  tries: StateTries,
  { top, accounts }: { top: TrieNodeRef | undefined; accounts: number },
  nextPage: number,
): StateTrieHead {
  return { root: formatData(tries.accounts.root(top)), top: formatData(top ?? EMPTY_BYTES), nextPage, accounts }
}

/** The root of a state that has these accounts and no others: 32 bytes. */
export function hashAccounts(accounts: readonly TouchedAccount[]): Uint8Array {
  const tries = createStateTries(createMemoryPages())
  const updates = accounts.map((each) => toTrieUpdate(tries, hashed(each), () => {}))
  return tries.accounts.root(tries.accounts.update(undefined, updates))
}

function hashed({ address, account, cleared, slots }: PendingAccount | TouchedAccount) {
  const updates = Array.from(slots.values(), ({ slot, value }) => ({
    key: keccak256(slot),
    change: () => (value.length === 0 ? undefined : value),
  }))
  return { key: keccak256(address), account, cleared, slots: updates }
}
