import { keccak256 } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { EMPTY_BYTES, keyOfBytes } from '../lib/bytes.js'
import { formatData, parseHex } from '../lib/hex.js'
import type { StateTrieHead, StateTrieTable } from '../store/state/stateTrieTable.js'
import type { StateKeys } from './missingNodes.js'
import type { TrieNodeRef } from './nodeFormat.js'
import { NodeSet } from './nodeSet.js'
import { createPageCache } from './pageCache.js'
import { hashKeys, type MissingStateNode, missingTrieNodes, throwMissing } from './partialState.js'
import { proveKey, type WitnessKeys, witnessTrie } from './proof.js'
import type { StateAccess } from './stateAccess.js'
import { createMemoryPages } from './stateTrie.js'
import {
  createStateTries,
  expandState,
  type StateTries,
  storageOfPacked,
  type UnknownStateNodes,
  updateState,
} from './stateTries.js'
import { hashUpdates, type StateUpdates } from './stateUpdates.js'
import type { TouchedAccount } from './touchedAccount.js'

/** The root of the newest state (Yellow Paper, 4.1), updated with each block. The tries are pages in the database; a
 *  bounded part is in memory, and only touched pages are read. */
export interface StateRoot {
  /** Notes the current accounts, which are hashed when a root is requested. */
  note(touched: readonly TouchedAccount[]): void
  /** The root of everything noted: 32 bytes. @throws MissingTrieNodes if a partial trie lacks nodes for the changes;
   *  call `discard` then */
  root(): Uint8Array
  /** Notes the accounts and returns the root. @throws as `root` does */
  update(touched: readonly TouchedAccount[]): Uint8Array
  /** Applies changes of distinct accounts that were collected elsewhere. @returns the root
   *  @throws MissingTrieNode if a partial trie lacks a node; call `discard` then */
  apply(updates: StateUpdates): Uint8Array
  /** Fills a partial trie with the nodes on the paths of accounts and slots, as far as the set of nodes has them. The
   *  root stays; `commit` makes the nodes permanent. @throws DecodeError for a malformed node; call `discard` then */
  learn(keys: readonly StateKeys[]): void
  /** Noted accounts and slots that are not hashed yet. */
  readonly pending: number
  /** Number of accounts in the last hashed state. Of a partial trie: how many more it has than in the state that it
   *  began with; may be negative. */
  readonly accounts: number
  /** Makes noted changes permanent: `discard` keeps them. */
  commit(): void
  /** Drops what was noted since `commit`. */
  discard(): void
  /** Proofs of an account and slots, 32 bytes each, in the noted state.
   *  @throws MissingTrieNode for an unknown node on their paths */
  prove(address: Uint8Array, slots: readonly Uint8Array[]): StateProof
  /** RLP of the trie nodes that accessing and changing accounts of the noted state needs, each once.
   *  @throws MissingTrieNode for an unknown one */
  witness(accesses: readonly StateAccess[]): Uint8Array[]
  /** Writes the permanent changes to the database within its transaction, which then contains the trie of their state.
   *  Call it before each commit of a state. */
  save(): void
  /** Drops everything in memory and reloads from the database, after a rollback. */
  reset(): void
}

/** Proofs of an account and of slots of it. */
export interface StateProof {
  nodes: Uint8Array[] // RLP, from the root on
  storageRoot: Uint8Array // 32; that of an empty trie for a missing account
  slots: { nodes: Uint8Array[]; value: Uint8Array }[] // values without leading zeros
}

interface PendingAccount {
  address: Uint8Array
  account: StateAccount | null
  cleared: boolean
  slots: Map<string, { slot: Uint8Array; value: Uint8Array }>
}

/** Creates the root over the stored trie, or over an empty state. Caches about `maxBytes` of pages. A partial trie
 *  reads the nodes that it does not know from `nodes`. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one state of the trie: noted, hashed and committed changes
export function createStateRoot(
  table: StateTrieTable,
  maxBytes: number,
  { nodes = new NodeSet() }: { nodes?: NodeSet } = {},
): StateRoot {
  const pages = createPageCache(table, maxBytes)
  let onMissing: UnknownStateNodes['onMissing'] = throwMissing
  const tries = createStateTries(pages, { nodes, onMissing: (missing) => onMissing(missing) })
  /** Why changes were applied only in part. */
  let failure: unknown
  let pending = new Map<string, PendingAccount>()
  let pendingSlots = 0
  let now: { top: TrieNodeRef | undefined; accounts: number } = { top: undefined, accounts: 0 }
  let committed = now
  let saved = now

  const reset = () => {
    const head = table.head()
    const top = parseHex(head?.top ?? '')
    now = { top: top.length === 0 ? undefined : top, accounts: head?.accounts ?? 0 }
    committed = now
    saved = now
    pending = new Map()
    pendingSlots = 0
    failure = undefined
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
  /** Replaces the trie by the one that `apply` returns. */
  const replace = (apply: () => typeof now, whenMissing = throwMissing) => {
    if (failure !== undefined) throw failure
    onMissing = whenMissing
    try {
      now = apply()
    } catch (error) {
      failure = error
      throw error
    }
  }
  const change = (updates: StateUpdates): typeof now => {
    let { accounts } = now
    const count = (difference: number) => {
      accounts += difference
    }
    return { top: updateState(tries, now.top, { updates, count }), accounts }
  }
  const hash = () => {
    if (failure !== undefined) throw failure
    if (pending.size === 0) return
    const changes = hashUpdates([...pending.values()])
    pending = new Map()
    pendingSlots = 0
    const missing: MissingStateNode[] = []
    replace(
      () => {
        const changed = change(changes)
        if (missing.length > 0) throw missingTrieNodes(missing, changes)
        return changed
      },
      (each) => void missing.push(each),
    )
  }
  const root = () => {
    hash()
    return tries.accounts.root(now.top)
  }
  const commit = () => {
    hash()
    committed = now
    pages.commit()
  }
  const prove = (address: Uint8Array, slots: readonly Uint8Array[]): StateProof => {
    hash()
    const { nodes, value } = proveKey(tries.accounts.reads, now.top, keccak256(address))
    const storage = value && storageOfPacked(value)
    return {
      nodes,
      storageRoot: tries.storage.root(storage),
      slots: slots.map((slot) => {
        const proof = proveKey(tries.storage.reads, storage, keccak256(slot))
        return { nodes: proof.nodes, value: proof.value ?? EMPTY_BYTES }
      }),
    }
  }
  const witness = (accesses: readonly StateAccess[]): Uint8Array[] => {
    hash()
    const nodes = new Map<string, Uint8Array>()
    const add = (rlp: Uint8Array) => void nodes.set(keyOfBytes(keccak256(rlp)), rlp)
    witnessTrie(tries.accounts.reads, now.top, keysOf(accesses.map((each) => [each.address, each.isDeleted])), add)
    for (const { address, slots } of accesses) {
      const { value } = proveKey(tries.accounts.reads, now.top, keccak256(address))
      const storage = value && storageOfPacked(value)
      witnessTrie(tries.storage.reads, storage, keysOf(slots.map((each) => [each.slot, each.isDeleted])), add)
    }
    return [...nodes.values()]
  }
  reset()
  return {
    note,
    root,
    prove,
    witness,
    update: (touched) => {
      note(touched)
      return root()
    },
    apply: (updates) => {
      hash()
      replace(() => change(updates))
      return root()
    },
    learn: (keys) => {
      const updates = hashKeys(keys)
      replace(
        () => ({ ...now, top: expandState(tries, now.top, updates) }),
        () => {},
      )
    },
    get pending() {
      return pending.size + pendingSlots
    },
    get accounts() {
      return now.accounts
    },
    commit,
    discard: () => {
      pending = new Map()
      pendingSlots = 0
      failure = undefined
      now = committed
      pages.discard()
    },
    save: () => {
      commit()
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
  const top = updateState(tries, undefined, { updates: hashUpdates(accounts), count: () => {} })
  return tries.accounts.root(top)
}

/** The root of a storage that has these slots and no others: 32 bytes. */
export function hashStorage(slots: TouchedAccount['slots']): Uint8Array {
  const tries = createStateTries(createMemoryPages())
  const address = new Uint8Array(20)
  const account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH }
  const updates = hashUpdates([{ address, account, cleared: false, slots }])
  const { value } = proveKey(
    tries.accounts.reads,
    updateState(tries, undefined, { updates, count: () => {} }),
    keccak256(address),
  )
  return tries.storage.root(value && storageOfPacked(value))
}

/** Hashed keys, sorted, and which of them are deleted. */
function keysOf(entries: readonly (readonly [key: Uint8Array, isDeleted: boolean])[]): WitnessKeys {
  const hashed = entries.map(([key, isDeleted]) => ({ key: keccak256(key), isDeleted }))
  const deleted = new Set(hashed.filter((each) => each.isDeleted).map(({ key }) => keyOfBytes(key)))
  const accessed = hashed.map(({ key }) => key).sort(Buffer.compare)
  return { accessed, isDeleted: (key) => deleted.has(keyOfBytes(key)) }
}
