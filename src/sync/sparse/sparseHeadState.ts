import { MissingTrieNode, MissingTrieNodes } from '../../trie/missingNodes.js'
import type { HeadState } from '../head/chainHead.js'
import type { SparseChain } from './sparseChain.js'

/** Wraps the state of an executed chain: while blocks are stored without state, the trie stays as it is. When the first
 *  block with state is removed, the state is too: base rows are values at that block, and blocks of another branch may
 *  have changed them. */
export function createSparseHeadState(sparse: SparseChain, state: HeadState): HeadState {
  return {
    beforeRemoval: (ancestor, upTo) => {
      const { number } = ancestor.header
      const first = sparse.stateFirst
      if (first === undefined || number < first) return () => sparse.removeAbove(number)
      if (number < (sparse.listing.last ?? -1)) {
        // Without nodes of the tries of listed blocks, the trie cannot be unwound to one of them, or beyond them.
        return () => {
          sparse.removeAbove(number)
          sparse.dropTrie(ancestor)
        }
      }
      const unwind = state.beforeRemoval(ancestor, upTo)
      return () => {
        try {
          unwind()
        } catch (error) {
          if (!(error instanceof MissingTrieNode || error instanceof MissingTrieNodes)) throw error
          // More than 128 blocks back, the trie may lack nodes that only its earlier forms have.
          sparse.dropTrie(ancestor)
        }
      }
    },
    beforeCommit: (newest, isNext) => {
      // Without the trie of the block before it, that of a listed block ends the history.
      if (sparse.hasState) state.beforeCommit(newest, isNext && newest.number !== sparse.listing.last)
    },
    afterRollback: () => state.afterRollback(),
  }
}
