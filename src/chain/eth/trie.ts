import { keccak256 } from '../crypto.js'
import { encodeRlp } from './rlp.js'
import {
  encodeBranch,
  encodeExtension,
  encodeLeaf,
  NO_CHILD,
  type NodeReference,
  referenceTo,
  toNibbles,
} from './trieNodes.js'

export { encodeHexPrefix } from './trieNodes.js'

/** Root of a trie without entries: keccak-256 of the RLP of no bytes. 32 bytes; shared: never write to it. */
export const EMPTY_TRIE_ROOT: Uint8Array = keccak256(NO_CHILD)

interface Entry {
  path: Uint8Array // nibbles
  value: Uint8Array
}

/** Root, 32 bytes, of the trie that maps rlp(index) to the value at that index: the roots of transactions, receipts
 *  and withdrawals (Yellow Paper, section 4.4.3; EIP-2718, EIP-4895). Values are never empty.
 *  Built bottom-up from the keys in their order, so that every node is encoded and hashed once. */
export function orderedTrieRoot(values: readonly Uint8Array[]): Uint8Array {
  if (values.length === 0) return EMPTY_TRIE_ROOT
  return keccak256(encodeNode(sortedEntries(values), 0, values.length, 0))
}

/** Entries in the order of their keys. One-byte keys of 1 to 127 come first, then 0 (key 0x80), then the others, whose
 *  keys sort as their indexes do. */
function sortedEntries(values: readonly Uint8Array[]): Entry[] {
  const entries: Entry[] = []
  const add = (index: number) => entries.push({ path: toNibbles(encodeRlp(index)), value: values[index] })
  for (let index = 1; index < Math.min(values.length, 128); index++) add(index)
  add(0)
  for (let index = 128; index < values.length; index++) add(index)
  return entries
}

/** RLP of the node over entries [from, to), which share the first `depth` nibbles of their paths. */
function encodeNode(entries: readonly Entry[], from: number, to: number, depth: number): Uint8Array {
  const first = entries[from]
  if (to - from === 1) return encodeLeaf(first.path.subarray(depth), first.value)
  const shared = sharedDepth(first.path, entries[to - 1].path, depth)
  if (shared > depth) {
    const branch = encodeNode(entries, from, to, shared)
    return encodeExtension(first.path.subarray(depth, shared), referenceTo(branch))
  }
  const children: NodeReference[] = new Array(16).fill(NO_CHILD)
  let start = from
  while (start < to) {
    const nibble = entries[start].path[depth]
    let end = start + 1
    while (end < to && entries[end].path[depth] === nibble) end++
    children[nibble] = referenceTo(encodeNode(entries, start, end, depth + 1))
    start = end
  }
  return encodeBranch(children)
}

/** Returns how many nibbles both paths share, at least `depth`. All sorted paths between the two share them too. */
function sharedDepth(a: Uint8Array, b: Uint8Array, depth: number): number {
  let shared = depth
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++
  return shared
}
