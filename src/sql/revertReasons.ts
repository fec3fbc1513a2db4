import { describeCallFailure } from '../decoding/failures.js'
import { StateUnavailable } from '../evm/errors.js'
import { recordCalls, type TracedCall } from '../evm/tracing/callTree.js'
import { loadTraceService } from '../evm/tracing/traceService.js'
import { createTransactionFinder } from '../index/transactions/finder.js'
import { noDeadline } from '../lib/deadline.js'
import type { TransactionLocation } from '../store/rows/transactionHashes.js'
import type { RevertReason } from '../store/sql/callViews.js'
import type { ChainConnection } from './chainConnection.js'

/** Memory of the executed transaction: the heap of a query process is small. */
const MEMORY_BYTES = 64 * 2 ** 20

/** Returns what reads the reason of a failed transaction: its decoded error, else the EVM's failure; null, too, where
 *  the state is not available. The query process is killed at its time limit, so executions have none. */
export async function loadRevertReasons({ db, watch, chain, decoder }: ChainConnection): Promise<RevertReason> {
  const traces = await loadTraceService(db, { watch, chain })
  const transactions = createTransactionFinder(db)
  const execute = (location: TransactionLocation): TracedCall | undefined => {
    const block = chain.blockByNumber(location.blockNumber)
    if (!block || chain.receipt(block, location.index)?.receipt.status === 1) return undefined
    const range = { first: location.index, last: location.index, deadline: noDeadline, memoryBytes: MEMORY_BYTES }
    let root: TracedCall | undefined
    traces.replay(block, range, (execution) => {
      const recorded = recordCalls(execution.journal.meter)
      execution.run(recorded.hooks)
      root = recorded.root()
    })
    return root
  }
  return (hash) => {
    try {
      const location = transactions.locate(hash)
      const root = location && execute(location)
      if (root === undefined) return null
      return (
        describeCallFailure(root, decoder(), { lowerCase: true, blockNumber: location?.blockNumber })?.reason ?? null
      )
    } catch (error) {
      if (error instanceof StateUnavailable) return null
      throw error
    }
  }
}
