import {
  encodeBranch,
  encodeExtension,
  encodeLeaf,
  hashReference,
  NO_CHILD,
  referenceTo,
  toNibbles,
} from '../chain/eth/trieNodes.js'
import { MissingTrieNode } from './missingNodes.js'
import { nibbleAt, sharesNibbles, type TrieNodeRef } from './nodeFormat.js'
import type { ValueRlp } from './nodeHashing.js'
import { childOf, referenceOfSlot, type TrieBranch, type TrieLeaf, type TrieNode, type UnknownNode } from './nodeRef.js'

/** Reads the nodes of a trie. */
export interface TrieReads {
  unpack(slot: TrieNodeRef): TrieNode
  valueRlp: ValueRlp
}

/** A Merkle proof (Yellow Paper, appendix D). */
export interface TrieProof {
  /** RLP of the nodes from the root to the leaf, or to where the path of the key ends. Nodes inside their parent are
   *  not listed. Empty for an empty trie. */
  nodes: Uint8Array[]
  /** The stored value; undefined if the trie has none for the key. */
  value?: Uint8Array
}

// A shorter node is part of its parent.
const REFERENCED_BYTES = 32

/** The proof of a key of 32 bytes. @throws MissingTrieNode for an unknown node on the path of the key */
export function proveKey(reads: TrieReads, top: TrieNodeRef | undefined, key: Uint8Array): TrieProof {
  const nodes: Uint8Array[] = []
  const add = (rlp: Uint8Array, depth: number) => {
    if (depth === 0 || rlp.length >= REFERENCED_BYTES) nodes.push(rlp)
  }
  let slot = top
  let depth = 0
  while (slot !== undefined) {
    const node = reads.unpack(slot)
    if (node.kind === 'leaf') {
      add(leafRlp(node, depth, reads), depth)
      return { nodes, value: Buffer.compare(node.key, key) === 0 ? node.value : undefined }
    }
    if (node.kind === 'unknown') {
      add(unknownExtension(node), depth)
      if (sharesNibbles(key, node.skip!, depth)) throw new MissingTrieNode(node.hash)
      return { nodes }
    }
    const { extension, branch } = branchRlp(node, depth, reads)
    if (extension !== undefined) add(extension, depth)
    if (!sharesNibbles(key, node.skip, depth)) return { nodes }
    add(branch, depth + node.skip.length)
    depth += node.skip.length
    slot = childOf(node, nibbleAt(key, depth))
    depth++
  }
  return { nodes }
}

function leafRlp({ key, value }: TrieLeaf, depth: number, { valueRlp }: TrieReads): Uint8Array {
  const length = valueRlp.encode(value, 0, value.length)
  return encodeLeaf(toNibbles(key).subarray(depth), valueRlp.out.slice(0, length))
}

/** RLP of the extension above an unknown branch. @throws MissingTrieNode for a node without a known extension */
function unknownExtension({ skip, hash }: UnknownNode): Uint8Array {
  if (skip === undefined || skip.length === 0) throw new MissingTrieNode(hash)
  return encodeExtension(skip, hashReference(hash))
}

function branchRlp(node: TrieBranch, depth: number, { valueRlp }: TrieReads) {
  const below = depth + node.skip.length + 1
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const child = childOf(node, nibble)
    return child === undefined ? NO_CHILD : referenceOfSlot(child, below, valueRlp)
  })
  const branch = encodeBranch(children)
  return { branch, extension: node.skip.length === 0 ? undefined : encodeExtension(node.skip, referenceTo(branch)) }
}

/** The keys that a witness covers. */
export interface WitnessKeys {
  /** Keys that are read or written, 32 bytes each, sorted. */
  accessed: readonly Uint8Array[]
  /** True for a key whose value is deleted. */
  isDeleted(key: Uint8Array): boolean
}

/** Passes to `add` the RLP of every node needed to read the keys and delete some of them: the paths of all keys, and
 *  the nodes that move up when their last sibling is deleted. That suffices for any order of the changes, because a
 *  branch has the fewest children when all deletions come first.
 *  @throws MissingTrieNode for an unknown node among them */
export function witnessTrie(
  reads: TrieReads,
  top: TrieNodeRef | undefined,
  { accessed, isDeleted }: WitnessKeys,
  add: (rlp: Uint8Array) => void,
): void {
  const put = (rlp: Uint8Array, depth: number) => {
    if (depth === 0 || rlp.length >= REFERENCED_BYTES) add(rlp)
  }
  const putNode = (node: TrieNode, depth: number) => {
    if (node.kind === 'leaf') return put(leafRlp(node, depth, reads), depth)
    if (node.kind === 'unknown') return put(unknownExtension(node), depth)
    const { extension, branch } = branchRlp(node, depth, reads)
    if (extension !== undefined) put(extension, depth)
    put(branch, depth + node.skip.length)
  }
  /** Visits the node that the keys [from, to) lead to. Returns true if the deletions remove it. */
  const visit = (slot: TrieNodeRef, depth: number, from: number, to: number): boolean => {
    const node = reads.unpack(slot)
    putNode(node, depth)
    if (node.kind === 'leaf') {
      return accessed.slice(from, to).some((key) => Buffer.compare(key, node.key) === 0 && isDeleted(key))
    }
    if (node.kind === 'unknown') {
      for (const key of accessed.slice(from, to)) {
        if (sharesNibbles(key, node.skip!, depth)) throw new MissingTrieNode(node.hash)
      }
      return false
    }
    const at = depth + node.skip.length
    let start = from
    while (start < to && !sharesNibbles(accessed[start], node.skip, depth)) start++
    let left = 0
    let untouched: TrieNodeRef | undefined
    for (let nibble = 0; nibble < 16; nibble++) {
      const begin = start
      const leadsHere = (key: Uint8Array) => sharesNibbles(key, node.skip, depth) && nibbleAt(key, at) === nibble
      while (start < to && leadsHere(accessed[start])) start++
      const child = childOf(node, nibble)
      if (child === undefined) continue
      if (begin === start) {
        left++
        untouched = child
      } else if (!visit(child, at + 1, begin, start)) left++
    }
    // The only child replaces the branch. A visited one is already included.
    if (left === 1 && untouched !== undefined) putNode(reads.unpack(untouched), at + 1)
    return left === 0
  }
  if (top !== undefined) visit(top, 0, 0, accessed.length)
}
