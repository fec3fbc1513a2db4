import { keccak256 } from '../chain/crypto.js'
import { decodeAccount, decodeSlotValue, type ProvedAccount } from '../chain/eth/proof.js'
import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import type { ChildNode, DecodedNode } from '../chain/eth/trieNodes.js'
import { EMPTY_BYTES, equalBytes, padLeft } from '../lib/bytes.js'
import { withoutStack } from '../lib/errors.js'
import { MissingTrieNode } from './missingNodes.js'
import { KEY_BYTES, nibbleAt, sharesNibbles } from './nodeFormat.js'
import type { NodeSet } from './nodeSet.js'
import { openEmbedded, openNode, requireBranch } from './openNode.js'

/** Reads the account at an address (20 bytes) in the state with that root (32 bytes); undefined if the state has none.
 *  The nodes on its path need no other verification than their hashes.
 *  @throws MissingTrieNode for a node that is not in the set
 *  @throws DecodeError for a node that is malformed or cannot be where it is */
export function readAccountNode(nodes: NodeSet, stateRoot: Uint8Array, address: Uint8Array): ProvedAccount | undefined {
  const value = findValue(nodes, stateRoot, keccak256(address))
  return value && decodeAccount(value)
}

/** Reads a slot (at most 32 bytes) of the storage with that root (32 bytes): the value without leading zeros, empty for
 *  zero. @throws as `readAccountNode` does */
export function readSlotNode(nodes: NodeSet, storageRoot: Uint8Array, slot: Uint8Array): Uint8Array {
  const value = findValue(nodes, storageRoot, keccak256(padLeft(slot, KEY_BYTES)))
  return value === undefined ? EMPTY_BYTES : decodeSlotValue(value)
}

/** Returns the value of a key; undefined if the trie has none. */
function findValue(nodes: NodeSet, root: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  const node = findLastNode(nodes, root, key)
  return node?.kind === 'leaf' && node.isOnPath ? node.value : undefined
}

/** The last node on the path of a key (32 bytes) in the trie with that root (32 bytes), and whether the key leads to
 *  its end; undefined for an empty trie. @throws as `readAccountNode` does */
export function findLastNode(
  nodes: NodeSet,
  root: Uint8Array,
  key: Uint8Array,
): (DecodedNode & { isOnPath: boolean }) | undefined {
  if (equalBytes(root, EMPTY_TRIE_ROOT)) return undefined
  let depth = 0
  let isBelowExtension = false
  // Ends, because each node takes at least one nibble of the key.
  for (let child: ChildNode = root; ; ) {
    const node: DecodedNode =
      child instanceof Uint8Array ? openNode(requireNode(nodes, child), depth) : openEmbedded(child, depth)
    if (isBelowExtension) requireBranch(node)
    isBelowExtension = node.kind === 'extension'
    if (node.kind === 'branch') {
      const next: ChildNode | undefined = node.children[nibbleAt(key, depth)]
      if (next === undefined) return { ...node, isOnPath: true }
      child = next
      depth++
      continue
    }
    const isOnPath = sharesNibbles(key, node.path, depth)
    if (node.kind === 'leaf' || !isOnPath) return { ...node, isOnPath }
    child = node.child
    depth += node.path.length
  }
}

function requireNode(nodes: NodeSet, hash: Uint8Array): Uint8Array {
  const rlp = nodes.get(hash)
  if (rlp === undefined) throw withoutStack(() => new MissingTrieNode(hash))
  return rlp
}
