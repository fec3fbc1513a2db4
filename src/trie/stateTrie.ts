import { keccak256 } from '../chain/crypto.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { MAX_REFERENCE, type TrieNodeRef } from './nodeFormat.js'
import type { ValueRlp } from './nodeHashing.js'
import { childOf, linkedPage, referenceOfSlot, unpackSlot } from './nodeRef.js'
import type { TrieReads } from './proof.js'
import { type SortedChanges, sortUpdates, type TrieUpdate } from './trieChanges.js'
import { type TriePages, TrieWriter } from './trieWriter.js'
import type { UnknownNodes } from './unknownNodes.js'

/** Tries of one kind in pages. A trie is identified by its top node, undefined if empty. Content alone determines the
 *  pages: a branch is a page exactly if it is longer than `INLINE_BYTES`. */
export interface PagedTries {
  /** Applies updates with distinct keys, in any order, and returns the new trie. Replaces the pages of the old one.
   *  Work and memory are proportional to the updates, not to the trie. */
  update(top: TrieNodeRef | undefined, updates: readonly TrieUpdate[]): TrieNodeRef | undefined
  /** Like `update`, with changes [from, to) that are already sorted. */
  apply(
    top: TrieNodeRef | undefined,
    changes: SortedChanges,
    range: { from: number; to: number },
  ): TrieNodeRef | undefined
  /** The root: 32 bytes. */
  root(top: TrieNodeRef | undefined): Uint8Array
  /** Frees the pages of a trie; unknown parts have none. */
  free(top: TrieNodeRef): void
  /** Reads of the nodes, for proofs. */
  readonly reads: TrieReads
}

/** Creates tries in `pages`; `valueRlp` encodes a stored value for hashing. In partial tries, `unknown` has the nodes
 *  that an update reaches; without it, an unknown one is a MissingTrieNode. */
export function createPagedTries(pages: TriePages, valueRlp: ValueRlp, unknown?: UnknownNodes): PagedTries {
  const unpack = (slot: TrieNodeRef) => unpackSlot(slot, pages.read)
  const writer = new TrieWriter(pages, valueRlp, unknown)
  const free = (slot: TrieNodeRef): void => {
    const node = unpack(slot)
    if (node.kind !== 'branch') return
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = childOf(node, nibble)
      if (child !== undefined) free(child)
    }
    const page = linkedPage(slot)
    if (page !== undefined) pages.free(page)
  }
  const apply: PagedTries['apply'] = (top, changes, range) =>
    range.from === range.to ? top : writer.apply(top, changes, range)
  return {
    free,
    reads: { unpack, valueRlp, nodes: unknown?.nodes },
    apply,
    update: (top, updates) => apply(top, sortUpdates(updates), { from: 0, to: updates.length }),
    root: (top) => {
      if (top === undefined) return EMPTY_TRIE_ROOT
      const reference = referenceOfSlot(top, 0, valueRlp)
      return reference.length === MAX_REFERENCE ? reference.slice(1) : keccak256(reference)
    },
  }
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
    write: (page, branch) => void pages.set(page, branch),
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
