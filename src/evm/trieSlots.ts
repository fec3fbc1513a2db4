import { encodeBranch, encodeExtension, encodeLeaf, NO_CHILD, referenceTo, toNibbles } from '../chain/eth/trieNodes.js'
import { EMPTY_BYTES } from '../lib/bytes.js'

/* Nodes of a Merkle Patricia trie over keys of 32 bytes (Yellow Paper, appendix D) as they are stored.
 *
 * A slot is how a node stands in its parent. It begins with a byte for its kind:
 *   0  leaf: key (32 bytes), length of the value (2), value
 *   1  branch that lies in its parent: reference, length of the branch (2), branch
 *   2  branch that is a page of its own: reference, id of the page (6)
 * A reference has its length (1) before it. A branch: number of nibbles that are skipped (1), a byte for each of them, the
 * children as a bitmap (2), their slots in order. A branch that skips nibbles is the extension and the branch below it.
 * A page is a branch. Leaves hold their whole key, so that they can be moved up and down as they are. Numbers are
 * big-endian. */

const LEAF = 0
const INLINE = 1
const LINK = 2

const KEY_BYTES = 32
const PAGE_ID_BYTES = 6

/** A node as it is stored in its parent. Never written to. */
export type TrieSlot = Uint8Array

export interface TrieLeaf {
  readonly kind: 'leaf'
  readonly key: Uint8Array // 32
  readonly value: Uint8Array
}

/** A branch, with the extension above it where it skips nibbles. */
export interface TrieBranch {
  readonly kind: 'branch'
  skip: Uint8Array // nibbles
  readonly children: (TrieSlot | undefined)[] // 16
  /** The page that holds it; 0: none. */
  page: number
}

export type TrieNode = TrieLeaf | TrieBranch

/** The nibble of a key at a depth. */
export function nibbleAt(key: Uint8Array, depth: number): number {
  return depth & 1 ? key[depth >> 1] & 15 : key[depth >> 1] >> 4
}

/** The slot of a leaf. */
export function packLeaf(key: Uint8Array, value: Uint8Array): TrieSlot {
  const slot = new Uint8Array(1 + KEY_BYTES + 2 + value.length)
  slot.set(key, 1)
  slot[1 + KEY_BYTES] = value.length >> 8
  slot[2 + KEY_BYTES] = value.length
  slot.set(value, 3 + KEY_BYTES)
  return slot
}

/** The slot of a branch that lies in its parent. */
export function packInline(reference: Uint8Array, branch: Uint8Array): TrieSlot {
  const slot = startSlot(INLINE, reference, 2 + branch.length)
  const at = 2 + reference.length
  slot[at] = branch.length >> 8
  slot[at + 1] = branch.length
  slot.set(branch, at + 2)
  return slot
}

/** The slot of a branch that is a page. */
export function packLink(reference: Uint8Array, page: number): TrieSlot {
  const slot = startSlot(LINK, reference, PAGE_ID_BYTES)
  new DataView(slot.buffer).setUint16(2 + reference.length, Math.floor(page / 2 ** 32))
  new DataView(slot.buffer).setUint32(4 + reference.length, page % 2 ** 32)
  return slot
}

function startSlot(kind: number, reference: Uint8Array, rest: number): TrieSlot {
  const slot = new Uint8Array(2 + reference.length + rest)
  slot[0] = kind
  slot[1] = reference.length
  slot.set(reference, 2)
  return slot
}

/** A branch as bytes, without its reference. */
export function packBranch({ skip, children }: TrieBranch): Uint8Array {
  let length = 1 + skip.length + 2
  let bitmap = 0
  for (let i = 0; i < 16; i++) {
    const child = children[i]
    if (child === undefined) continue
    bitmap |= 1 << i
    length += child.length
  }
  const out = new Uint8Array(length)
  out[0] = skip.length
  out.set(skip, 1)
  let at = 1 + skip.length
  out[at++] = bitmap >> 8
  out[at++] = bitmap
  for (const child of children) {
    if (child === undefined) continue
    out.set(child, at)
    at += child.length
  }
  return out
}

/** The branch of the bytes. Its parts are views. */
export function unpackBranch(bytes: Uint8Array, page: number): TrieBranch {
  const skipped = bytes[0]
  let at = 1 + skipped
  const bitmap = (bytes[at] << 8) | bytes[at + 1]
  at += 2
  const children: (TrieSlot | undefined)[] = new Array(16).fill(undefined)
  for (let i = 0; i < 16; i++) {
    if ((bitmap & (1 << i)) === 0) continue
    const end = at + slotLength(bytes, at)
    children[i] = bytes.subarray(at, end)
    at = end
  }
  return { kind: 'branch', skip: skipped === 0 ? EMPTY_BYTES : bytes.subarray(1, 1 + skipped), children, page }
}

function slotLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LEAF) {
    const value = at + 1 + KEY_BYTES
    return 3 + KEY_BYTES + ((bytes[value] << 8) | bytes[value + 1])
  }
  const after = 2 + bytes[at + 1]
  if (bytes[at] === LINK) return after + PAGE_ID_BYTES
  return after + 2 + ((bytes[at + after] << 8) | bytes[at + after + 1])
}

/** The id of the page that the slot is a link to; 0 for other slots. */
export function pageOf(slot: TrieSlot): number {
  if (slot[0] !== LINK) return 0
  let page = 0
  for (let i = 0, at = 2 + slot[1]; i < PAGE_ID_BYTES; i++) page = page * 256 + slot[at + i]
  return page
}

/** The node of a slot; `read` gives the bytes of a page. */
export function unpackSlot(slot: TrieSlot, read: (page: number) => Uint8Array): TrieNode {
  if (slot[0] === LEAF)
    return { kind: 'leaf', key: slot.subarray(1, 1 + KEY_BYTES), value: slot.subarray(3 + KEY_BYTES) }
  const page = pageOf(slot)
  return page === 0 ? unpackBranch(slot.subarray(4 + slot[1]), 0) : unpackBranch(read(page), page)
}

/** How the node of a slot stands in its parent's RLP. `depth` is that of the node, which is right below its parent's
 *  nibble; `valueRlp` makes of a stored value what the trie holds. */
export function referenceOfSlot(
  slot: TrieSlot,
  depth: number,
  valueRlp: (value: Uint8Array) => Uint8Array,
): Uint8Array {
  if (slot[0] !== LEAF) return slot.subarray(2, 2 + slot[1])
  const path = toNibbles(slot.subarray(1, 1 + KEY_BYTES)).subarray(depth)
  return referenceTo(encodeLeaf(path, valueRlp(slot.subarray(3 + KEY_BYTES))))
}

/** How a branch stands in its parent's RLP. */
export function referenceOfBranch(
  { skip, children }: TrieBranch,
  depth: number,
  valueRlp: (value: Uint8Array) => Uint8Array,
): Uint8Array {
  const references = children.map((child) =>
    child === undefined ? NO_CHILD : referenceOfSlot(child, depth + skip.length + 1, valueRlp),
  )
  const reference = referenceTo(encodeBranch(references))
  return skip.length === 0 ? reference : referenceTo(encodeExtension(skip, reference))
}
