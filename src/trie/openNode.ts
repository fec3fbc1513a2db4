import { DecodeError, decodeRlp } from '../chain/eth/rlp.js'
import { type ChildNode, type DecodedNode, decodeTrieNode } from '../chain/eth/trieNodes.js'
import { KEY_BYTES } from './nodeFormat.js'

const KEY_NIBBLES = 2 * KEY_BYTES
// A shorter node is part of its parent.
const REFERENCED_BYTES = 32
// The 17 items of a branch, and those of the nodes inside it, each at least 1 byte long.
const MAX_ITEMS = 17 * REFERENCED_BYTES

/** Where a node is in a trie with keys of 32 bytes. */
export interface NodePosition {
  /** Number of nibbles above the node. */
  depth: number
  /** True if its parent is an extension: it is a branch. */
  isBelowExtension: boolean
}

/** Decodes the RLP of a node that its parent refers to by hash. @throws DecodeError as `openEmbedded` does, and for a node
 *  that is too short to be referred to by hash */
export function openNode(rlp: Uint8Array, position: NodePosition): DecodedNode {
  if (rlp.length < REFERENCED_BYTES && position.depth > 0) {
    throw new DecodeError('node', `expected at least ${REFERENCED_BYTES} bytes, got ${rlp.length}`)
  }
  return requirePosition(decodeTrieNode(decodeRlp(rlp, 'node', MAX_ITEMS)), position)
}

/** Decodes a node inside its parent. @throws DecodeError for a node that `decodeTrieNode` refuses or that cannot be at
 *  this position: below an extension, or because of the length of its path */
export function openEmbedded(child: Exclude<ChildNode, Uint8Array>, position: NodePosition): DecodedNode {
  return requirePosition(decodeTrieNode(child), position)
}

function requirePosition(node: DecodedNode, { depth, isBelowExtension }: NodePosition): DecodedNode {
  if (isBelowExtension && node.kind !== 'branch') {
    throw new DecodeError('node', `expected a branch below an extension, got a node of kind ${node.kind}`)
  }
  const length = node.kind === 'branch' ? 0 : node.path.length
  const nibblesLeft = KEY_NIBBLES - depth
  // A branch takes one nibble, an extension is above a branch.
  if (node.kind === 'leaf' ? length === nibblesLeft : length < nibblesLeft) return node
  const wanted = node.kind === 'leaf' ? `a path of ${nibblesLeft} nibbles` : `a path below ${nibblesLeft} nibbles`
  throw new DecodeError('node.path', `expected ${wanted}, got ${length}`)
}
