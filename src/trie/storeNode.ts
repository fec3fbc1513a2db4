import { type DecodedNode, hashReference } from '../chain/eth/trieNodes.js'
import { concatBytes, EMPTY_BYTES } from '../lib/bytes.js'
import { INLINE, KEY_BYTES, LEAF, LEAF_HEAD, type TrieNodeRef, UNKNOWN_BRANCH, unknownNode } from './nodeFormat.js'
import type { ValueRlp } from './nodeHashing.js'
import type { NodeSet } from './nodeSet.js'
import { type DecodedBranch, openEmbedded, openNode, requireBranch } from './openNode.js'

/* Conversion of nodes from their RLP to the stored form (nodeFormat.ts). Children stay unknown, but those inside their
 * parent. A branch is returned as one inside its parent, however long; `TrieWriter` decides about pages. */

/** What a conversion needs. */
export interface NodeConversion {
  nodes: NodeSet
  valueRlp: ValueRlp
  /** 64 nibbles: those above the node, and room that the conversion uses. */
  path: Uint8Array
}

/** Returns the stored form of the node with that hash, `depth` nibbles below the root; undefined if it is not in the
 *  set. An extension includes its branch if that is in the set too.
 *  @throws DecodeError for a node that is malformed or cannot be where it is */
export function convertNode(hash: Uint8Array, depth: number, conversion: NodeConversion): TrieNodeRef | undefined {
  const rlp = conversion.nodes.take(hash)
  if (rlp === undefined) return undefined
  return storeNode(openNode(rlp, depth), hashReference(hash), depth, conversion)
}

/** Returns the stored form of the branch with that hash, reached over `skip` nibbles from `depth` on; undefined if it
 *  is not in the set. @throws as `convertNode` does */
export function convertBranch(
  hash: Uint8Array,
  skip: Uint8Array,
  { depth, ...conversion }: NodeConversion & { depth: number },
): TrieNodeRef | undefined {
  const rlp = conversion.nodes.take(hash)
  if (rlp === undefined) return undefined
  const node = requireBranch(openNode(rlp, depth + skip.length))
  return storeBranch(node, { skip, reference: EMPTY_BYTES, depth }, conversion)
}

function storeNode(node: DecodedNode, reference: Uint8Array, depth: number, conversion: NodeConversion): TrieNodeRef {
  if (node.kind === 'leaf') return storeLeaf(node, depth, conversion)
  if (node.kind === 'branch') return storeBranch(node, { skip: EMPTY_BYTES, reference, depth }, conversion)
  const { child, path: skip } = node
  const place = { skip, reference, depth }
  const below = depth + skip.length
  if (!(child instanceof Uint8Array)) return storeBranch(requireBranch(openEmbedded(child, below)), place, conversion)
  const rlp = conversion.nodes.take(child)
  if (rlp !== undefined) return storeBranch(requireBranch(openNode(rlp, below)), place, conversion)
  const head = Uint8Array.of(UNKNOWN_BRANCH, reference.length)
  return concatBytes(head, reference, Uint8Array.of(skip.length), skip, child)
}

function storeLeaf(
  { path: rest, value }: Extract<DecodedNode, { kind: 'leaf' }>,
  depth: number,
  { path, valueRlp }: NodeConversion,
): TrieNodeRef {
  path.set(rest, depth)
  const stored = valueRlp.decode(value)
  const leaf = new Uint8Array(LEAF_HEAD + stored.length)
  leaf[0] = LEAF
  for (let i = 0; i < KEY_BYTES; i++) leaf[1 + i] = (path[2 * i] << 4) | path[2 * i + 1]
  leaf[1 + KEY_BYTES] = stored.length >> 8
  leaf[2 + KEY_BYTES] = stored.length
  leaf.set(stored, LEAF_HEAD)
  return leaf
}

function storeBranch(
  { children }: DecodedBranch,
  { skip, reference, depth }: { skip: Uint8Array; reference: Uint8Array; depth: number },
  conversion: NodeConversion,
): TrieNodeRef {
  conversion.path.set(skip, depth)
  const branching = depth + skip.length
  let bitmap = 0
  const stored = children.map((child, nibble) => {
    if (child === undefined) return EMPTY_BYTES
    bitmap |= 1 << nibble
    if (child instanceof Uint8Array) return unknownNode(child)
    conversion.path[branching] = nibble
    const node = openEmbedded(child, branching + 1)
    return storeNode(node, child.raw, branching + 1, conversion)
  })
  const branch = concatBytes(Uint8Array.of(skip.length), skip, Uint8Array.of(bitmap >> 8, bitmap), ...stored)
  const head = concatBytes(Uint8Array.of(INLINE, reference.length), reference)
  return concatBytes(head, Uint8Array.of(branch.length >> 8, branch.length), branch)
}
