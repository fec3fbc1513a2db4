import { encodeExtension, referenceTo } from '../chain/eth/trieNodes.js'
import { EMPTY_BYTES } from '../lib/bytes.js'
import { hashBranch, type LeafPlace, writeLeafReference } from './nodeHashing.js'

/* Stored form of Merkle Patricia trie nodes over 32-byte keys (Yellow Paper, appendix D).
 *
 * A `TrieNodeRef` is a node as its parent stores it. Its first byte is the kind:
 *   0  leaf: key (32 bytes), length of the value (2), value
 *   1  branch inside its parent: reference, length of the branch (2), branch
 *   2  branch in a page of its own: reference, page id (6)
 * A reference is preceded by its length (1). A branch: number of skipped nibbles (1), one byte for each, a bitmap of the
 * children (2), the children in order. A branch that skips nibbles stands for an extension and the branch below it.
 * A page is a branch. Leaves hold their whole key, so they can move up and down unchanged. Numbers are big-endian. */

const LEAF = 0
const INLINE = 1
const LINK = 2

const KEY_BYTES = 32
const PAGE_ID_BYTES = 6
// Length of a leaf's encoding before its value.
const LEAF_HEAD = 1 + KEY_BYTES + 2

/** An encoded node as stored in its parent. Immutable. */
export type TrieNodeRef = Uint8Array

export interface TrieLeaf {
  readonly kind: 'leaf'
  readonly key: Uint8Array // 32
  readonly value: Uint8Array
}

/** A branch, with its extension if it skips nibbles. Children stay in the bytes they were read from until they are set,
 *  because most are only copied. */
export interface TrieBranch {
  readonly kind: 'branch'
  skip: Uint8Array // nibbles
  /** The page that holds it; 0: none. */
  readonly page: number
  readonly bytes: Uint8Array
  /** Start offsets of the 16 children in the bytes; 0: none. */
  readonly starts: number[]
  readonly ends: number[]
  /** Children that were set. */
  readonly own: (TrieNodeRef | undefined)[]
}

export type TrieNode = TrieLeaf | TrieBranch

/** Encodes a stored value for hashing. The result is valid until the next call. */
export type ValueRlp = (stored: Uint8Array) => Uint8Array

/** The nibble of a key at a depth. */
export function nibbleAt(key: Uint8Array, depth: number): number {
  return depth & 1 ? key[depth >> 1] & 15 : key[depth >> 1] >> 4
}

/** An empty branch that is no page. */
export function emptyBranch(skip: Uint8Array): TrieBranch {
  const [starts, ends, own] = [noPlaces(), noPlaces(), noSlots()]
  return { kind: 'branch', skip, page: 0, bytes: EMPTY_BYTES, starts, ends, own }
}

const noPlaces = (): number[] => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
const noSlots = (): (TrieNodeRef | undefined)[] => new Array(16).fill(undefined)

/** The child at a nibble. */
export function childOf({ bytes, starts, ends, own }: TrieBranch, nibble: number): TrieNodeRef | undefined {
  return starts[nibble] === 0 ? own[nibble] : bytes.subarray(starts[nibble], ends[nibble])
}

/** Sets the child at a nibble. */
export function setChild({ starts, own }: TrieBranch, nibble: number, child: TrieNodeRef | undefined): void {
  starts[nibble] = 0
  own[nibble] = child
}

/** The nibble of the only child; -1 when there is none, -2 when there are several. */
export function onlyChild({ starts, own }: TrieBranch): number {
  let only = -1
  for (let i = 0; i < 16; i++) {
    if (starts[i] === 0 && own[i] === undefined) continue
    if (only >= 0) return -2
    only = i
  }
  return only
}

/** Encodes a leaf. */
export function packLeaf(key: Uint8Array, value: Uint8Array): TrieNodeRef {
  const slot = new Uint8Array(LEAF_HEAD + value.length)
  slot.set(key, 1)
  slot[1 + KEY_BYTES] = value.length >> 8
  slot[2 + KEY_BYTES] = value.length
  slot.set(value, LEAF_HEAD)
  return slot
}

/** Encodes a branch stored inside its parent. */
export function packInline(reference: Uint8Array, branch: Uint8Array): TrieNodeRef {
  const slot = startSlot(INLINE, reference, 2 + branch.length)
  const at = 2 + reference.length
  slot[at] = branch.length >> 8
  slot[at + 1] = branch.length
  slot.set(branch, at + 2)
  return slot
}

/** Encodes a link to a branch that is a page. */
export function packLink(reference: Uint8Array, page: number): TrieNodeRef {
  const slot = startSlot(LINK, reference, PAGE_ID_BYTES)
  let rest = page
  for (let at = slot.length - 1; rest > 0; at--) {
    slot[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return slot
}

function startSlot(kind: number, reference: Uint8Array, rest: number): TrieNodeRef {
  const slot = new Uint8Array(2 + reference.length + rest)
  slot[0] = kind
  slot[1] = reference.length
  slot.set(reference, 2)
  return slot
}

/** Length of `packBranch`'s result. */
export function packedLength({ skip, starts, ends, own }: TrieBranch): number {
  let length = 3 + skip.length
  for (let i = 0; i < 16; i++) length += starts[i] === 0 ? (own[i]?.length ?? 0) : ends[i] - starts[i]
  return length
}

/** The bytes of a branch, without its reference. */
export function packBranch(branch: TrieBranch): Uint8Array {
  const { skip, bytes, starts, ends, own } = branch
  let bitmap = 0
  for (let i = 0; i < 16; i++) if (starts[i] !== 0 || own[i] !== undefined) bitmap |= 1 << i
  const out = new Uint8Array(packedLength(branch))
  out[0] = skip.length
  out.set(skip, 1)
  let at = 1 + skip.length
  out[at++] = bitmap >> 8
  out[at++] = bitmap
  for (let i = 0; i < 16; i++) {
    if (starts[i] === 0) {
      const slot = own[i]
      if (slot === undefined) continue
      out.set(slot, at)
      at += slot.length
      continue
    }
    // Adjacent children are copied at once.
    const from = starts[i]
    let to = ends[i]
    while (i < 15 && (starts[i + 1] === to || (starts[i + 1] === 0 && own[i + 1] === undefined))) {
      i++
      if (starts[i] !== 0) to = ends[i]
    }
    out.set(bytes.subarray(from, to), at)
    at += to - from
  }
  return out
}

/** Decodes the branch at `at`. */
function unpackBranch(bytes: Uint8Array, at: number, page: number): TrieBranch {
  const skipped = bytes[at]
  const skip = skipped === 0 ? EMPTY_BYTES : bytes.subarray(at + 1, at + 1 + skipped)
  let next = at + 1 + skipped
  const bitmap = (bytes[next] << 8) | bytes[next + 1]
  next += 2
  const [starts, ends] = [noPlaces(), noPlaces()]
  for (let i = 0; i < 16; i++) {
    if ((bitmap & (1 << i)) === 0) continue
    starts[i] = next
    next += slotLength(bytes, next)
    ends[i] = next
  }
  return { kind: 'branch', skip, page, bytes, starts, ends, own: noSlots() }
}

function slotLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LEAF) return LEAF_HEAD + valueLength(bytes, at)
  const after = 2 + bytes[at + 1]
  if (bytes[at] === LINK) return after + PAGE_ID_BYTES
  return after + 2 + ((bytes[at + after] << 8) | bytes[at + after + 1])
}

function valueLength(bytes: Uint8Array, at: number): number {
  return (bytes[at + 1 + KEY_BYTES] << 8) | bytes[at + 2 + KEY_BYTES]
}

function pageOf(slot: TrieNodeRef): number {
  let page = 0
  for (let i = 0, at = 2 + slot[1]; i < PAGE_ID_BYTES; i++) page = page * 256 + slot[at + i]
  return page
}

/** The page of a node that has one of its own; undefined for a leaf or a node inside its parent's page. */
export function linkedPage(slot: TrieNodeRef): number | undefined {
  return slot[0] === LEAF || slot[0] === INLINE ? undefined : pageOf(slot)
}

/** Decodes a node into a copy that the caller may change. `read` returns a page as bytes or branch. */
export function unpackSlot(slot: TrieNodeRef, read: (page: number) => Uint8Array | TrieBranch): TrieNode {
  if (slot[0] === LEAF) {
    return { kind: 'leaf', key: slot.subarray(1, 1 + KEY_BYTES), value: slot.subarray(LEAF_HEAD) }
  }
  if (slot[0] === INLINE) return unpackBranch(slot, 4 + slot[1], 0)
  const page = pageOf(slot)
  const held = read(page)
  return held instanceof Uint8Array ? unpackBranch(held, 0, page) : copyBranch(held)
}

/** A copy to be changed. */
function copyBranch({ kind, skip, page, bytes, starts, ends, own }: TrieBranch): TrieBranch {
  return { kind, skip, page, bytes, starts: starts.slice(), ends, own: own.slice() }
}

/** The node's reference in its parent's RLP. `depth` is that of the node: one more than that of its nibble. */
export function referenceOfSlot(slot: TrieNodeRef, depth: number, valueRlp: ValueRlp): Uint8Array {
  if (slot[0] !== LEAF) return slot.subarray(2, 2 + slot[1])
  const reference = new Uint8Array(MAX_REFERENCE)
  return reference.subarray(0, writeLeafReference(reference, 0, leafAt(slot, 0, depth, valueRlp)))
}

const MAX_REFERENCE = 33

/** Decodes the leaf at `at`. */
function leafAt(bytes: Uint8Array, at: number, depth: number, valueRlp: ValueRlp): LeafPlace {
  const valueAt = at + LEAF_HEAD
  const value = valueRlp(bytes.subarray(valueAt, valueAt + valueLength(bytes, at)))
  return { bytes, keyAt: at + 1, depth, value }
}

/** A branch's reference in its parent's RLP. */
export function referenceOfBranch(branch: TrieBranch, depth: number, valueRlp: ValueRlp): Uint8Array {
  const { skip, bytes, starts, own } = branch
  const below = depth + skip.length + 1
  const reference = hashBranch((out, at, nibble) => {
    const start = starts[nibble]
    const from = start === 0 ? own[nibble] : bytes
    if (from === undefined) return at
    if (from[start] === LEAF) return writeLeafReference(out, at, leafAt(from, start, below, valueRlp))
    const length = from[start + 1]
    for (let i = 0; i < length; i++) out[at + i] = from[start + 2 + i]
    return at + length
  })
  return skip.length === 0 ? reference : referenceTo(encodeExtension(skip, reference))
}
