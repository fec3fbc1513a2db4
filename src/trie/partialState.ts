import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { EMPTY_BYTES, equalBytes, keyOfBytes } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import type { StateTrieHead, TrieBlock } from '../store/state/stateTrieTable.js'
import { MissingTrieNode, MissingTrieNodes, type SiblingPlace, type StateKeys } from './missingNodes.js'
import { unknownNode } from './nodeFormat.js'
import type { UnknownStateNodes } from './stateTries.js'
import { type HashedUpdates, hashUpdates } from './stateUpdates.js'

/* A partial state trie begins with the root of a state alone. Nodes of proofs fill it in where blocks change it. */

/** The trie of a state whose root (32 bytes) alone is known, to be stored as the first of a database. */
export function unknownStateHead(stateRoot: Uint8Array, block: TrieBlock): StateTrieHead {
  const top = equalBytes(stateRoot, EMPTY_TRIE_ROOT) ? EMPTY_BYTES : unknownNode(stateRoot)
  return { root: formatData(stateRoot), top: formatData(top), nextPage: 1, accounts: 0, block }
}

/** A missing node of the tries of a state. */
export type MissingStateNode = Parameters<UnknownStateNodes['onMissing']>[0]

/** Ends an update at the first missing node. @throws MissingTrieNode */
export function throwMissing({ hash }: MissingStateNode): void {
  throw new MissingTrieNode(hash)
}

/** The keys whose proofs have the missing nodes of an update. */
export function missingTrieNodes(missing: readonly MissingStateNode[], updates: HashedUpdates): MissingTrieNodes {
  const onPaths = missing.filter(({ isSibling }) => !isSibling)
  if (onPaths.length > 0) return new MissingTrieNodes({ before: keysBefore(onPaths, updates), after: [] })
  const after = createKeyList()
  const siblings: SiblingPlace[] = []
  for (const { from, isSlot, path } of missing) {
    if (path) siblings.push({ address: isSlot ? updates.slotAt(from).address : undefined, path })
    // Where a node is missing because of deletions, the paths of all deleted keys end at what replaces it.
    if (!isSlot) after.add(updates.accountAt(from).address)
    else {
      const { address, slot } = updates.slotAt(from)
      after.add(address, [slot])
    }
  }
  return new MissingTrieNodes({ before: [], after: after.keys(), siblings })
}

function keysBefore(missing: readonly MissingStateNode[], updates: HashedUpdates): StateKeys[] {
  const before = createKeyList()
  for (const { from, to, isSlot } of missing) {
    for (let index = from; index < to; index++) {
      if (isSlot) {
        const { address, slot } = updates.slotAt(index)
        before.add(address, [slot])
        continue
      }
      const { address, account, cleared, slots } = updates.accountAt(index)
      // Nothing is left of a cleared storage.
      const needed = account === null || cleared ? [] : Array.from(slots.values(), ({ slot }) => slot)
      before.add(address, needed)
    }
  }
  return before.keys()
}

/** Collects keys, each once. */
function createKeyList() {
  const list = new Map<string, { address: Uint8Array; slots: Map<string, Uint8Array> }>()
  return {
    add: (address: Uint8Array, slots: readonly Uint8Array[] = []) => {
      const key = keyOfBytes(address)
      const entry = list.get(key) ?? { address, slots: new Map<string, Uint8Array>() }
      list.set(key, entry)
      for (const slot of slots) entry.slots.set(keyOfBytes(slot), slot)
    },
    keys: (): StateKeys[] =>
      Array.from(list.values(), ({ address, slots }) => ({ address, slots: [...slots.values()] })),
  }
}

/** Hashes the keys, each once, as updates whose values mean nothing. */
export function hashKeys(keys: readonly StateKeys[]): HashedUpdates {
  const list = createKeyList()
  for (const { address, slots } of keys) list.add(address, slots)
  const account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH }
  return hashUpdates(
    list.keys().map(({ address, slots }) => ({
      ...{ address, account, cleared: false },
      slots: slots.map((slot) => ({ slot, value: EMPTY_BYTES })),
    })),
  )
}
