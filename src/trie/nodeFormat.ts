/* Stored form of Merkle Patricia trie nodes over 32-byte keys (Yellow Paper, appendix D).
 *
 * A `TrieNodeRef` is a node as its parent stores it. Its first byte is the kind:
 *   0  leaf: key (32 bytes), length of the value (2), value
 *   1  branch inside its parent: reference, length of the branch (2), branch
 *   2  branch in a page of its own: reference, page id (6)
 * A partial trie has two more, for nodes whose hash alone is known:
 *   3  unknown leaf, extension or branch: reference (a0 and the hash)
 *   4  unknown branch: reference, number of skipped nibbles (1), one byte for each, hash (32). With nibbles, the
 *      extension above the branch is known; without them, only that the node is a branch
 * A reference is preceded by its length (1). A branch: number of skipped nibbles (1), one byte for each, a bitmap of
 * the children (2), the children in order. A branch that skips nibbles stands for an extension and the branch below it.
 * A page is a branch. Leaves hold their whole key, so they can move up and down unchanged. Numbers are big-endian. */

export const LEAF = 0
export const INLINE = 1
export const LINK = 2
export const UNKNOWN = 3
export const UNKNOWN_BRANCH = 4

export const KEY_BYTES = 32
export const PAGE_ID_BYTES = 6
export const NODE_HASH_BYTES = 32
/** Length of a leaf's encoding before its value. */
export const LEAF_HEAD = 1 + KEY_BYTES + 2
/** Length of the longest reference in a parent's RLP: that of a hash. */
export const MAX_REFERENCE = 33

/** An encoded node as stored in its parent. Immutable. */
export type TrieNodeRef = Uint8Array

/** The nibble of a key at a depth. */
export function nibbleAt(key: Uint8Array, depth: number): number {
  return depth & 1 ? key[depth >> 1] & 15 : key[depth >> 1] >> 4
}

/** The nibble at a depth of the key at `at`. */
export function nibbleIn(bytes: Uint8Array, at: number, depth: number): number {
  const byte = bytes[at + (depth >> 1)]
  return depth & 1 ? byte & 15 : byte >> 4
}

/** True if the key has these nibbles from `depth` on. */
export function sharesNibbles(key: Uint8Array, nibbles: Uint8Array, depth: number): boolean {
  return nibbles.every((nibble, i) => nibble === nibbleAt(key, depth + i))
}

/** Order of the keys at `at` and `otherAt`: negative, 0 or positive. */
export function compareTrieKeys(bytes: Uint8Array, at: number, other: Uint8Array, otherAt: number): number {
  for (let i = 0; i < KEY_BYTES; i++) {
    const difference = bytes[at + i] - other[otherAt + i]
    if (difference !== 0) return difference
  }
  return 0
}

/** Length of the node at `at`. */
export function slotLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === LEAF) return LEAF_HEAD + valueLength(bytes, at)
  const after = 2 + bytes[at + 1]
  if (bytes[at] === LINK) return after + PAGE_ID_BYTES
  if (bytes[at] === INLINE) return after + 2 + ((bytes[at + after] << 8) | bytes[at + after + 1])
  return bytes[at] === UNKNOWN ? after : after + 1 + bytes[at + after] + NODE_HASH_BYTES
}

/** Length of the value of the leaf at `at`. */
export function valueLength(bytes: Uint8Array, at: number): number {
  return (bytes[at + 1 + KEY_BYTES] << 8) | bytes[at + 2 + KEY_BYTES]
}

/** The node with that hash (32 bytes), which is all that is known about it. */
export function unknownNode(hash: Uint8Array): TrieNodeRef {
  const node = new Uint8Array(2 + MAX_REFERENCE)
  node[0] = UNKNOWN
  node[1] = MAX_REFERENCE
  node[2] = 0xa0
  node.set(hash, 3)
  return node
}

/** The page that the node at `at` links to. */
export function pageAt(bytes: Uint8Array, at: number): number {
  let page = 0
  for (let i = 0, from = at + 2 + bytes[at + 1]; i < PAGE_ID_BYTES; i++) page = page * 256 + bytes[from + i]
  return page
}

/** Writes a page id at `at`. */
export function writePageId(out: Uint8Array, at: number, page: number): void {
  for (let i = PAGE_ID_BYTES - 1, rest = page; i >= 0; i--, rest = Math.floor(rest / 256)) out[at + i] = rest % 256
}
