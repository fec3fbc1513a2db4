import { keccak256 } from '../chain/crypto.js'
import { type ChildNode, encodeExtension, encodeLeaf, hashReference } from '../chain/eth/trieNodes.js'
import type { StateKeys } from './missingNodes.js'
import type { NodeSet } from './nodeSet.js'
import { findLastNode, readAccountNode } from './readNodes.js'

// A shorter node is part of its parent.
const REFERENCED_BYTES = 32

/** Proofs in the state after a block, of accounts and slots that it deletes. */
export interface DeletionProofs {
  nodes: NodeSet
  /** The root of that state: 32 bytes. */
  stateRoot: Uint8Array
  keys: readonly StateKeys[]
}

/** Adds to `before` what proofs in the state after a block show of the tries before it. When deletions leave a branch
 *  one child, that child replaces the branch: the path of a deleted key then ends at the child, whose path has become
 *  longer. So the child was a leaf or an extension with a shorter path, or the branch below the extension.
 *  @throws MissingTrieNode for a node that is not in the proofs
 *  @throws DecodeError for a node that is malformed or cannot be where it is */
export function addDeletionHints(before: NodeSet, { nodes, stateRoot, keys }: DeletionProofs): void {
  for (const { address, slots } of keys) {
    addTrieHint(before, { nodes, root: stateRoot, key: keccak256(address) })
    if (slots.length === 0) continue
    const account = readAccountNode(nodes, stateRoot, address)
    if (account === undefined) continue
    const { storageRoot: root } = account
    for (const slot of slots) addTrieHint(before, { nodes, root, key: keccak256(slot) })
  }
}

/** The proof of a deleted key (32 bytes) in the trie after. */
export interface DeletionProof {
  nodes: NodeSet
  root: Uint8Array // 32
  key: Uint8Array // 32
}

/** Does the same for a key of one trie. */
export function addTrieHint(before: NodeSet, { nodes, root, key }: DeletionProof): void {
  const node = findLastNode(nodes, root, key)
  if (node === undefined || node.kind === 'branch') return
  const { path } = node
  const isLeaf = node.kind === 'leaf'
  // A leaf at the end of its key has no path; an extension has one.
  const longestCut = isLeaf ? path.length : path.length - 1
  for (let cut = 1; cut <= longestCut; cut++) {
    const rest = path.subarray(cut)
    const rlp = isLeaf ? encodeLeaf(rest, node.value) : encodeExtension(rest, referenceOf(node.child))
    if (rlp.length >= REFERENCED_BYTES) before.add(rlp)
  }
  if (!isLeaf && node.child instanceof Uint8Array) before.markBranch(node.child)
}

function referenceOf(child: ChildNode): Uint8Array {
  return child instanceof Uint8Array ? hashReference(child) : child.raw
}
