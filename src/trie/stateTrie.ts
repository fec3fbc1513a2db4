import { keccak256 } from '../chain/crypto.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { concatBytes, EMPTY_BYTES, equalBytes, keyOfBytes } from '../lib/bytes.js'
import {
  childOf,
  emptyBranch,
  nibbleAt,
  onlyChild,
  packBranch,
  packedLength,
  packInline,
  packLeaf,
  packLink,
  referenceOfBranch,
  referenceOfSlot,
  setChild,
  type TrieBranch,
  type TrieNode,
  type TrieNodeRef,
  unpackSlot,
  type ValueRlp,
} from './nodeRef.js'
import type { TrieReads } from './proof.js'

/** Storage of trie pages. Bytes and branches passed in or out are immutable. */
export interface TriePages {
  /** The page, or the branch written to it if it is not encoded yet. */
  read(page: number): Uint8Array | TrieBranch
  write(page: number, branch: TrieBranch): void
  /** An unused page id, from 1 on. */
  allocate(): number
  free(page: number): void
}

/** A change of the value at a key. */
export interface TrieUpdate {
  readonly key: Uint8Array // 32
  /** The new stored value from the old one; undefined: none. */
  change(before: Uint8Array | undefined): Uint8Array | undefined
}

/** Tries of one kind in pages. A trie is named by its top node, undefined if empty. Content alone determines the pages: a
 *  branch is a page exactly if it is longer than `INLINE_BYTES`. */
export interface PagedTries {
  /** Applies updates with distinct keys, in any order, and returns the new trie. Replaces the pages of the old one. Work
   *  and memory are proportional to the updates, not to the trie. */
  update(top: TrieNodeRef | undefined, updates: TrieUpdate[]): TrieNodeRef | undefined
  /** The root: 32 bytes. */
  root(top: TrieNodeRef | undefined): Uint8Array
  /** Frees the pages of a trie. */
  free(top: TrieNodeRef): void
  /** Reads of the nodes, for proofs. */
  readonly reads: TrieReads
}

// Keeps the largest page, 16 such children, within an SQLite page.
const INLINE_BYTES = 240

/** Tries in `pages`; `valueRlp` encodes a stored value for hashing. */
export function createPagedTries(pages: TriePages, valueRlp: ValueRlp): PagedTries {
  const unpack = (slot: TrieNodeRef): TrieNode => unpackSlot(slot, pages.read)

  /** Encodes the node at `depth` as a reference for its parent. */
  const seal = (node: TrieNode, depth: number): TrieNodeRef => {
    if (node.kind === 'leaf') return packLeaf(node.key, node.value)
    const reference = referenceOfBranch(node, depth, valueRlp)
    if (packedLength(node) <= INLINE_BYTES) {
      if (node.page !== 0) pages.free(node.page)
      return packInline(reference, packBranch(node))
    }
    const page = node.page === 0 ? pages.allocate() : node.page
    pages.write(page, node.page === page ? node : { ...node, page })
    return packLink(reference, page)
  }

  /** The node over sorted entries [from, to), which share their first `depth` nibbles. */
  const build = (entries: readonly Entry[], from: number, to: number, depth: number): TrieNode | undefined => {
    if (from === to) return undefined
    const first = entries[from]
    if (to - from === 1) return { kind: 'leaf', ...first }
    const last = entries[to - 1].key
    let at = depth
    while (nibbleAt(first.key, at) === nibbleAt(last, at)) at++
    const skip = Uint8Array.from({ length: at - depth }, (_, i) => nibbleAt(first.key, depth + i))
    const branch = emptyBranch(skip)
    for (let start = from; start < to; ) {
      const end = endOfNibble(entries, start, to, at)
      setChild(branch, nibbleAt(entries[start].key, at), seal(build(entries, start, end, at + 1)!, at + 1))
      start = end
    }
    return branch
  }

  /** The node at `depth` after the sorted updates [from, to), which are all below it. */
  const merge = (
    slot: TrieNodeRef | undefined,
    updates: readonly TrieUpdate[],
    [from, to]: [number, number],
    depth: number,
  ): TrieNode | undefined => {
    const node = slot && unpack(slot)
    if (node?.kind !== 'branch') {
      const entries = entriesAfter(node, updates, from, to)
      return build(entries, 0, entries.length, depth)
    }
    // Among sorted keys, the first or the last has the shortest common prefix with the skipped nibbles.
    const { skip } = node
    const shared = Math.min(agreement(skip, updates[from].key, depth), agreement(skip, updates[to - 1].key, depth))
    const branch = shared === skip.length ? node : split(node, shared, depth)
    const at = depth + shared
    for (let start = from; start < to; ) {
      const end = endOfNibble(updates, start, to, at)
      const nibble = nibbleAt(updates[start].key, at)
      const child = merge(childOf(branch, nibble), updates, [start, end], at + 1)
      setChild(branch, nibble, child && seal(child, at + 1))
      start = end
    }
    return collapse(branch)
  }

  /** Splits a branch after the first `count` skipped nibbles. */
  const split = (branch: TrieBranch, count: number, depth: number): TrieBranch => {
    const { skip } = branch
    const top = emptyBranch(skip.slice(0, count))
    branch.skip = skip.slice(count + 1)
    setChild(top, skip[count], seal(branch, depth + count + 1))
    return top
  }

  /** A branch with a single child is replaced by that child, with the nibbles before it. */
  const collapse = (branch: TrieBranch): TrieNode | undefined => {
    const only = onlyChild(branch)
    if (only === -2) return branch
    if (branch.page !== 0) pages.free(branch.page)
    if (only < 0) return undefined
    const child = unpack(childOf(branch, only)!)
    if (child.kind === 'branch') child.skip = concatBytes(branch.skip, Uint8Array.of(only), child.skip)
    return child
  }

  const free = (slot: TrieNodeRef): void => {
    const node = unpack(slot)
    if (node.kind === 'leaf') return
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = childOf(node, nibble)
      if (child !== undefined) free(child)
    }
    if (node.page !== 0) pages.free(node.page)
  }
  return {
    free,
    reads: { unpack, valueRlp },
    update: (top, updates) => {
      if (updates.length === 0) return top
      const sorted = updates.sort((a, b) => Buffer.compare(a.key, b.key))
      const node = merge(top, sorted, [0, sorted.length], 0)
      return node && seal(node, 0)
    },
    root: (top) => {
      if (top === undefined) return EMPTY_TRIE_ROOT
      const reference = referenceOfSlot(top, 0, valueRlp)
      return reference.length === 33 ? reference.slice(1) : keccak256(reference)
    },
  }
}

interface Entry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** Values after sorted updates of a trie with at most one leaf. */
function entriesAfter(leaf: Entry | undefined, updates: readonly TrieUpdate[], from: number, to: number): Entry[] {
  const entries: Entry[] = []
  let rest = leaf
  for (let i = from; i < to; i++) {
    const { key } = updates[i]
    const order = rest === undefined ? 1 : Buffer.compare(rest.key, key)
    if (order < 0) entries.push(rest!)
    const value = updates[i].change(order === 0 ? rest!.value : undefined)
    if (order <= 0) rest = undefined
    if (value !== undefined) entries.push({ key, value })
  }
  if (rest !== undefined) entries.push(rest)
  return entries
}

/** End of the run of keys that share the nibble at `depth` with the first. */
function endOfNibble(sorted: readonly { key: Uint8Array }[], from: number, to: number, depth: number): number {
  const nibble = nibbleAt(sorted[from].key, depth)
  let end = from + 1
  while (end < to && nibbleAt(sorted[end].key, depth) === nibble) end++
  return end
}

/** Length of the common prefix of the nibbles and the key from `depth`. */
function agreement(nibbles: Uint8Array, key: Uint8Array, depth: number): number {
  let i = 0
  while (i < nibbles.length && nibbles[i] === nibbleAt(key, depth + i)) i++
  return i
}

/** Pages in memory. */
export function createMemoryPages(): TriePages & { readonly count: number; readonly bytes: number } {
  const pages = new Map<number, Uint8Array>()
  let next = 1
  return {
    read: (page) => {
      const bytes = pages.get(page)
      if (bytes === undefined) throw new Error(`no page ${page}`)
      return bytes
    },
    write: (page, branch) => void pages.set(page, packBranch(branch)),
    allocate: () => next++,
    free: (page) => void pages.delete(page),
    get count() {
      return pages.size
    },
    get bytes() {
      let total = 0
      for (const page of pages.values()) total += page.length
      return total
    },
  }
}

/** A trie in memory, hashed when its root is requested. */
export interface StateTrie {
  /** Sets the value of a 32-byte key; an empty value removes it. */
  put(key: Uint8Array, value: Uint8Array): void
  /** 32 bytes. */
  root(): Uint8Array
}

/** An empty trie. */
export function createStateTrie(pages: TriePages = createMemoryPages()): StateTrie {
  const tries = createPagedTries(pages, (value) => value)
  let top: TrieNodeRef | undefined
  let pending = new Map<string, { key: Uint8Array; value: Uint8Array }>()
  return {
    put: (key, value) => void pending.set(keyOfBytes(key), { key, value }),
    root: () => {
      const updates = Array.from(pending.values(), ({ key, value }) => ({
        key,
        change: () => (equalBytes(value, EMPTY_BYTES) ? undefined : value),
      }))
      pending = new Map()
      top = tries.update(top, updates)
      return tries.root(top)
    },
  }
}
