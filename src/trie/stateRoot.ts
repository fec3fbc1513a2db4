import { keccak256 } from '../chain/crypto.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { EMPTY_BYTES, keyOfBytes } from '../lib/bytes.js'
import { formatData, parseHex } from '../lib/hex.js'
import type { StateTrieHead, StateTrieTable } from '../store/state/stateTrieTable.js'
import type { TrieNodeRef } from './nodeRef.js'
import { createPageCache } from './pageCache.js'
import { createStateTries, type StateTries, toTrieUpdate } from './stateTries.js'
import type { TouchedAccount } from './touchedAccount.js'

/** The root of the newest state (Yellow Paper, 4.1), kept up with blocks. Its tries lie in the database, in pages of which
 *  a bounded part is in memory; only what is touched is read. */
export interface StateRoot {
  /** Takes accounts as they are now. They are hashed when a root is asked for. */
  note(touched: readonly TouchedAccount[]): void
  /** The root of all that was noted: 32 bytes. */
  root(): Uint8Array
  /** Notes the accounts and gives the root. */
  update(touched: readonly TouchedAccount[]): Uint8Array
  /** Accounts and slots that were noted and are not hashed. */
  readonly pending: number
  /** Accounts in the state that was hashed last. */
  readonly accounts: number
  /** What was noted stays: `discard` goes back to here. */
  settle(): void
  /** Gives up what was noted since `settle`. */
  discard(): void
  /** Writes what was settled to the database, in the transaction that it is in; it holds the trie of the settled state
   *  then. To be called before each commit of a state. */
  save(): void
  /** Forgets what lies in memory and takes what the database has: after a rollback. */
  reset(): void
}

interface PendingAccount {
  address: Uint8Array
  account: StateAccount | null
  cleared: boolean
  slots: Map<string, { slot: Uint8Array; value: Uint8Array }>
}

/** The root over the trie that the table holds; an empty state's when it holds none. About `maxBytes` of pages are kept in
 *  memory. */
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

/** What the table is told of a trie that its pages hold. */
export function headOf(
  tries: StateTries,
  { top, accounts }: { top: TrieNodeRef | undefined; accounts: number },
  nextPage: number,
): StateTrieHead {
  return { root: formatData(tries.accounts.root(top)), top: formatData(top ?? EMPTY_BYTES), nextPage, accounts }
}

function hashed({ address, account, cleared, slots }: PendingAccount) {
  const updates = Array.from(slots.values(), ({ slot, value }) => ({
    key: keccak256(slot),
    change: () => (value.length === 0 ? undefined : value),
  }))
  return { key: keccak256(address), account, cleared, slots: updates }
}
