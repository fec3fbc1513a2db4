import type { Header } from '../../chain/eth/types.js'
import type { Executor } from '../../evm/transition/blockExecutor.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { TouchedAbove } from '../../store/state/touchedAbove.js'
import type { RecordedTrieTable } from '../../store/state/trieHistory.js'
import type { StateRoot } from '../../trie/stateRoot.js'
import type { Head, HeadState } from './chainHead.js'

/** Creates the state of a chain whose blocks are executed: each commit stores the trie of its newest block. */
export function createExecutedState({
  chain,
  executor,
  root,
  table,
  touchedAbove,
}: {
  chain: ChainReader
  executor: Executor
  root: StateRoot
  /** Where the root is stored. */
  table: RecordedTrieTable
  touchedAbove: TouchedAbove
}): HeadState {
  /** Removed blocks were undone in the trie: the stored one is not that of the next block's parent. */
  let wasUndone = false
  return {
    beforeRemoval: ({ header, hash }, upTo) => {
      if (isRecorded(table, header)) {
        return () => {
          unwindTrie({ table, root, chain }, { header, hash })
          executor.reset()
        }
      }
      const touched = touchedAbove.take({ above: header.number, upTo })
      return () => {
        wasUndone = true
        const reverted = executor.revert(touched.map((each) => touchedAbove.restored(each)))
        requireRootAfterRemoval(chain, header, reverted)
      }
    },
    beforeCommit: ({ number, hash }, isNext) => {
      table.recorded({ number, hash: formatData(hash) }, isNext && !wasUndone, () => root.save())
      wasUndone = false
    },
    afterRollback: () => {
      wasUndone = false
      table.clear()
      executor.reset()
    },
  }
}

/** True if `unwindTrie` can reach the block. */
export function isRecorded(table: RecordedTrieTable, { number }: Header): boolean {
  const first = table.recordedFrom()
  return first !== undefined && first <= number
}

/** Unwinds the trie to a recorded block, in a transaction that wrote nothing to it. @throws Error as
 *  `requireRootAfterRemoval` */
export function unwindTrie(
  { table, root, chain }: { table: RecordedTrieTable; root: StateRoot; chain: ChainReader },
  { header, hash }: Pick<Head, 'header' | 'hash'>,
): void {
  table.unwind({ number: header.number, hash: formatData(hash) })
  root.reset()
  const reverted = root.root()
  requireRootAfterRemoval(chain, header, reverted)
  table.setHead({ ...table.head()!, root: formatData(reverted) })
}

/** Checks the state after the blocks above one were removed. @throws Error if its root differs from the header */
export function requireRootAfterRemoval(chain: ChainReader, { number, stateRoot }: Header, root: Uint8Array): void {
  if (equalBytes(root, stateRoot) || !chain.commitsToState(number)) return
  throw new Error(
    `after removing the blocks above ${number} the state has the root ${formatData(root)}, its header says ` +
      `${formatData(stateRoot)}: the database is damaged`,
  )
}
