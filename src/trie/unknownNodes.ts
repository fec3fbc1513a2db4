import { MissingTrieNode } from './missingNodes.js'
import { NodeSet } from './nodeSet.js'

/** A node that changes need and that is not known. */
export interface MissingNode {
  hash: Uint8Array // 32
  /** The changes: [from, to). */
  from: number
  to: number
  /** False if the node is on their paths. True if it replaces its parent, because they delete all other children. */
  isSibling: boolean
  /** Of a sibling: the nibbles that lead to it. */
  path?: Uint8Array
}

/** Nodes for those of a partial trie that are not known. */
export interface UnknownNodes {
  readonly nodes: NodeSet
  /** Called for a node that is needed and not in the set. Throws, or returns: then the result is not the changed trie,
   *  unless the changes leave all values. */
  onMissing(missing: MissingNode): void
}

/** For complete tries: every unknown node is missing. */
export const NOTHING_KNOWN: UnknownNodes = {
  nodes: new NodeSet(),
  onMissing: ({ hash }) => {
    throw new MissingTrieNode(hash)
  },
}
