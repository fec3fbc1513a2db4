import { type ChainSpec, commitsToState } from '../../chain/eth/forks.js'
import type { Header } from '../../chain/eth/types.js'
import type { Executor } from '../../evm/transition/blockExecutor.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { TouchedAbove } from '../../store/state/touchedAbove.js'
import type { RecordedTrieTable } from '../../store/state/trieHistory.js'
import type { StateRoot } from '../../trie/stateRoot.js'
import type { HeadState } from './chainHead.js'

/** The state of a chain whose blocks are executed: each commit stores the trie of its newest block. */
export function createExecutedState({
  spec,
  executor,
  root,
  table,
  touchedAbove,
}: {
  spec: ChainSpec
  executor: Executor
  root: StateRoot
  /** Where the root is stored. */
  table: RecordedTrieTable
  touchedAbove: TouchedAbove
}): HeadState {
  return {
    beforeRemoval: ({ header }, upTo) => {
      const touched = touchedAbove.take({ above: header.number, upTo })
      return () => {
        const reverted = executor.revert(touched.map((each) => touchedAbove.restored(each)))
        requireRootAfterRemoval(spec, header, reverted)
      }
    },
    beforeCommit: ({ number, hash }, isNext) =>
      table.recorded({ number, hash: formatData(hash) }, isNext, () => root.save()),
    afterRollback: () => {
      table.forget()
      executor.reset()
    },
  }
}

/** Checks the state after the blocks above one were removed. @throws Error if it is not that of the header */
export function requireRootAfterRemoval(spec: ChainSpec, { number, stateRoot }: Header, root: Uint8Array): void {
  if (equalBytes(root, stateRoot) || !commitsToState(spec, number)) return
  throw new Error(
    `after removing the blocks above ${number} the state has the root ${formatData(root)}, its header says ` +
      `${formatData(stateRoot)}: the database is damaged`,
  )
}
