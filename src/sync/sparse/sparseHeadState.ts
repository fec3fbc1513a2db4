import type { HeadState } from '../head/chainHead.js'
import type { SparseChain } from './sparseChain.js'

/** Wraps the state of an executed chain: while blocks are stored without state, the trie stays as it is. */
export function createSparseHeadState(sparse: SparseChain, state: HeadState): HeadState {
  return {
    beforeRemoval: (ancestor, upTo) => {
      const { number } = ancestor.header
      const first = sparse.stateFirst
      if (first === undefined) return () => {}
      if (number < first) return () => sparse.removeAbove(number)
      return state.beforeRemoval(ancestor, upTo)
    },
    beforeCommit: (newest, isNext) => {
      if (sparse.hasState) state.beforeCommit(newest, isNext)
    },
    afterRollback: () => state.afterRollback(),
  }
}
