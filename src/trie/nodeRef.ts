import { EMPTY_BYTES } from '../lib/bytes.js'
import {
  INLINE,
  KEY_BYTES,
  LEAF,
  LEAF_HEAD,
  LINK,
  MAX_REFERENCE,
  NODE_HASH_BYTES,
  pageAt,
  slotLength,
  type TrieNodeRef,
  UNKNOWN,
} from './nodeFormat.js'
import { type ValueRlp, writeBranchReference, writeLeafReference, writeUnknownBranchReference } from './nodeHashing.js'

/* Reading stored nodes (nodeFormat.ts). */

export interface TrieLeaf {
  readonly kind: 'leaf'
  readonly key: Uint8Array // 32
  readonly value: Uint8Array
}

/** A branch, with its extension if it skips nibbles. */
export interface TrieBranch {
  readonly kind: 'branch'
  readonly skip: Uint8Array // nibbles
  readonly bytes: Uint8Array
  /** Its offset in the bytes. */
  readonly at: number
  /** Start offsets of the 16 children in the bytes; 0: none. */
  readonly starts: number[]
}

/** A node of a partial trie whose hash alone is known. */
export interface UnknownNode {
  readonly kind: 'unknown'
  /** That of the node, or of the branch below `skip`. */
  readonly hash: Uint8Array // 32
  /** Nibbles that lead to a branch; none if the node itself is one. Undefined if it may be a leaf, an extension or a
   *  branch. */
  readonly skip?: Uint8Array
}

export type TrieNode = TrieLeaf | TrieBranch | UnknownNode

/** The child at a nibble. */
export function childOf({ bytes, starts }: TrieBranch, nibble: number): TrieNodeRef | undefined {
  const at = starts[nibble]
  return at === 0 ? undefined : bytes.subarray(at, at + slotLength(bytes, at))
}

/** The nibble of the only child; -1 if there are no children, -2 if there are several. */
export function onlyChild({ starts }: TrieBranch): number {
  let only = -1
  for (let i = 0; i < 16; i++) {
    if (starts[i] === 0) continue
    if (only >= 0) return -2
    only = i
  }
  return only
}

/** Decodes the branch at `at`. */
function unpackBranch(bytes: Uint8Array, at: number): TrieBranch {
  const skipped = bytes[at]
  const skip = skipped === 0 ? EMPTY_BYTES : bytes.subarray(at + 1, at + 1 + skipped)
  let next = at + 1 + skipped
  const bitmap = (bytes[next] << 8) | bytes[next + 1]
  next += 2
  const starts = new Array<number>(16).fill(0)
  for (let i = 0; i < 16; i++) {
    if ((bitmap & (1 << i)) === 0) continue
    starts[i] = next
    next += slotLength(bytes, next)
  }
  return { kind: 'branch', skip, bytes, at, starts }
}

/** The page of a node that has one of its own; undefined for a leaf or a node inside its parent's page. */
export function linkedPage(slot: TrieNodeRef): number | undefined {
  return slot[0] === LINK ? pageAt(slot, 0) : undefined
}

/** Decodes a node. `read` returns a page. */
export function unpackSlot(slot: TrieNodeRef, read: (page: number) => Uint8Array): TrieNode {
  if (slot[0] === LEAF) {
    return { kind: 'leaf', key: slot.subarray(1, 1 + KEY_BYTES), value: slot.subarray(LEAF_HEAD) }
  }
  if (slot[0] === INLINE) return unpackBranch(slot, 4 + slot[1])
  return slot[0] === LINK ? unpackBranch(read(pageAt(slot, 0)), 0) : unpackUnknown(slot)
}

function unpackUnknown(slot: TrieNodeRef): UnknownNode {
  if (slot[0] === UNKNOWN) return { kind: 'unknown', hash: slot.subarray(3, 3 + NODE_HASH_BYTES) }
  const skipAt = 2 + slot[1]
  const hashAt = skipAt + 1 + slot[skipAt]
  const hash = slot.subarray(hashAt, hashAt + NODE_HASH_BYTES)
  return { kind: 'unknown', hash, skip: slot.subarray(skipAt + 1, hashAt) }
}

/** The node's reference in its parent's RLP. `depth` is that of the node: one more than that of its nibble. */
export function referenceOfSlot(slot: TrieNodeRef, depth: number, valueRlp: ValueRlp): Uint8Array {
  if (slot[0] !== LEAF) return slot.subarray(2, 2 + slot[1])
  const reference = new Uint8Array(MAX_REFERENCE)
  return reference.subarray(0, writeLeafReference(reference, 0, { bytes: slot, at: 0, depth }, valueRlp))
}

/** The reference of an unknown node in its parent's RLP. */
export function referenceOfUnknown({ skip = EMPTY_BYTES, hash }: UnknownNode): Uint8Array {
  const reference = new Uint8Array(MAX_REFERENCE)
  return reference.subarray(0, writeUnknownBranchReference(reference, 0, skip, hash))
}

/** A branch's reference in its parent's RLP, computed from its children. */
export function referenceOfBranch({ bytes, at }: TrieBranch, depth: number, valueRlp: ValueRlp): Uint8Array {
  const reference = new Uint8Array(MAX_REFERENCE)
  return reference.subarray(0, writeBranchReference(reference, 0, { bytes, at, depth }, valueRlp))
}
