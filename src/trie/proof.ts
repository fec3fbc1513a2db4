import { encodeExtension, encodeLeaf, hashReference, referenceTo, toNibbles } from '../chain/eth/trieNodes.js'
import { MissingTrieNode } from './missingNodes.js'
import { nibbleAt, sharesNibbles, type TrieNodeRef } from './nodeFormat.js'
import { encodeBranchAt, type ValueRlp } from './nodeHashing.js'
import { childOf, type TrieBranch, type TrieLeaf, type TrieNode, type UnknownNode } from './nodeRef.js'
import type { NodeSet } from './nodeSet.js'

/** Reads the nodes of a trie. */
export interface TrieReads {
  unpack(slot: TrieNodeRef): TrieNode
  valueRlp: ValueRlp
  /** Nodes for unknown ones of a partial trie. */
  nodes?: NodeSet
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

/** RLP of the extension above an unknown branch. @throws MissingTrieNode if nothing of the node is known */
function unknownExtension(node: UnknownNode): Uint8Array {
  if (isWhollyUnknown(node)) throw new MissingTrieNode(node.hash)
  return encodeExtension(node.skip!, hashReference(node.hash))
}

/** True unless the node is a known extension. */
function isWhollyUnknown({ skip }: UnknownNode): boolean {
  return skip === undefined || skip.length === 0
}

function branchRlp(node: TrieBranch, depth: number, { valueRlp }: TrieReads) {
  const branch = encodeBranchAt({ bytes: node.bytes, at: node.at, depth }, valueRlp)
  return { branch, extension: node.skip.length === 0 ? undefined : encodeExtension(node.skip, referenceTo(branch)) }
}

/** The keys that a witness covers. */
export interface WitnessKeys {
  /** Keys that are read or written, 32 bytes each, sorted. */
  accessed: readonly Uint8Array[]
  /** True for a key without a value after the block. */
  isDeleted(key: Uint8Array): boolean
}

/** Passes to `add` the RLP of every node needed to read the keys and to apply their changes, insertions before
 *  deletions: the nodes on the paths of the keys, and each node that moves up because its last sibling is deleted and
 *  none is inserted. Without keys there are none. (execution-specs, `build_execution_witness`)
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
  const isAnyPresent = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (!isDeleted(accessed[i])) return true
    return false
  }
  /** Visits the node that the keys [from, to) lead to, at least one. Returns true if the changes remove it. */
  const visit = (slot: TrieNodeRef, depth: number, from: number, to: number): boolean => {
    const node = reads.unpack(slot)
    if (node.kind === 'unknown' && isWhollyUnknown(node)) throw new MissingTrieNode(node.hash)
    put(firstRlp(node, depth, reads), depth)
    if (node.kind === 'leaf') {
      const isAccessed = accessed.slice(from, to).some((key) => Buffer.compare(key, node.key) === 0)
      return isAccessed && !isAnyPresent(from, to)
    }
    const at = depth + node.skip!.length
    let start = from
    while (start < to && !sharesNibbles(accessed[start], node.skip!, depth)) start++
    let end = start
    while (end < to && sharesNibbles(accessed[end], node.skip!, depth)) end++
    if (start === end) return false
    if (node.kind === 'unknown') throw new MissingTrieNode(node.hash)
    if (node.skip.length > 0) put(branchRlp(node, depth, reads).branch, at)
    return visitChildren(node, at, start, end) === 0 && !isAnyPresent(from, start) && !isAnyPresent(end, to)
  }
  /** Visits the children of a branch that the keys [from, to) lead to. Returns the number of children afterwards. */
  const visitChildren = (node: TrieBranch, at: number, from: number, to: number): number => {
    let left = 0
    let untouched: TrieNodeRef | undefined
    let start = from
    for (let nibble = 0; nibble < 16; nibble++) {
      const begin = start
      while (start < to && nibbleAt(accessed[start], at) === nibble) start++
      const child = childOf(node, nibble)
      if (child !== undefined && begin === start) untouched = child
      const isRemoved = child === undefined || (begin < start && visit(child, at + 1, begin, start))
      if (!isRemoved || isAnyPresent(begin, start)) left++
    }
    // The only child replaces the branch. A visited one is already included.
    if (left === 1 && untouched !== undefined) put(firstRlp(reads.unpack(untouched), at + 1, reads), at + 1)
    return left
  }
  if (top !== undefined && accessed.length > 0) visit(top, 0, 0, accessed.length)
}

/** The RLP of a node; of a branch below an extension, that of the extension.
 *  @throws MissingTrieNode for an unknown branch without one */
function firstRlp(node: TrieNode, depth: number, reads: TrieReads): Uint8Array {
  if (node.kind === 'leaf') return leafRlp(node, depth, reads)
  if (node.kind === 'unknown') {
    return (isWhollyUnknown(node) ? reads.nodes?.get(node.hash) : undefined) ?? unknownExtension(node)
  }
  const { extension, branch } = branchRlp(node, depth, reads)
  return extension ?? branch
}
