import { DecodeError, decodeRlp } from '../chain/eth/rlp.js'
import { type ChildNode, type DecodedNode, decodeTrieNode } from '../chain/eth/trieNodes.js'
import { KEY_BYTES } from './nodeFormat.js'

const KEY_NIBBLES = 2 * KEY_BYTES
// A shorter node is part of its parent.
const REFERENCED_BYTES = 32
// The 17 items of a branch, and those of the nodes inside it, each at least 1 byte long.
const MAX_ITEMS = 17 * REFERENCED_BYTES

/** A decoded branch. */
export type DecodedBranch = Extract<DecodedNode, { kind: 'branch' }>

/** Decodes the RLP of a node that its parent refers to by hash, `depth` nibbles below the root.
 *  @throws DecodeError as `openEmbedded` does, and for a node that is too short to be referred to by hash */
export function openNode(rlp: Uint8Array, depth: number): DecodedNode {
  if (rlp.length < REFERENCED_BYTES && depth > 0) {
    throw new DecodeError('node', `expected at least ${REFERENCED_BYTES} bytes, got ${rlp.length}`)
  }
  return requireLength(decodeTrieNode(decodeRlp(rlp, 'node', MAX_ITEMS)), depth)
}

/** Decodes a node inside its parent. @throws DecodeError for a node that `decodeTrieNode` refuses or whose path is too
 *  long or too short for its depth */
export function openEmbedded(child: Exclude<ChildNode, Uint8Array>, depth: number): DecodedNode {
  return requireLength(decodeTrieNode(child), depth)
}

/** Returns the node below an extension. @throws DecodeError unless it is a branch */
export function requireBranch(node: DecodedNode): DecodedBranch {
  if (node.kind === 'branch') return node
  throw new DecodeError('node', `expected a branch below an extension, got a node of kind ${node.kind}`)
}

function requireLength(node: DecodedNode, depth: number): DecodedNode {
  const length = node.kind === 'branch' ? 0 : node.path.length
  const nibblesLeft = KEY_NIBBLES - depth
  // A branch takes one nibble, an extension is above a branch.
  if (node.kind === 'leaf' ? length === nibblesLeft : length < nibblesLeft) return node
  const wanted = node.kind === 'leaf' ? `a path of ${nibblesLeft} nibbles` : `a path below ${nibblesLeft} nibbles`
  throw new DecodeError('node.path', `expected ${wanted}, got ${length}`)
}
