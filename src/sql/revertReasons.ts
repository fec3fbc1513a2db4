import { openDecoder } from '../decoding/decoder.js'
import { describeCallFailure } from '../decoding/failures.js'
import { createImplementationReader } from '../decoding/proxies.js'
import { StateUnavailable } from '../evm/errors.js'
import { recordCalls, type TracedCall } from '../evm/tracing/callTree.js'
import { loadTraceService } from '../evm/tracing/traceService.js'
import { createTransactionFinder } from '../index/transactions/finder.js'
import { noDeadline } from '../lib/deadline.js'
import { createCommitWatch } from '../store/commitWatch.js'
import { openForReading } from '../store/open.js'
import { createChainReader } from '../store/rows/chainReader.js'
import type { TransactionLocation } from '../store/rows/transactionHashes.js'
import type { RevertReason } from '../store/sql/callViews.js'
import { createStateReads } from '../store/state/stateReader.js'

/** Memory of the executed transaction: the heap of a query process is small. */
const MEMORY_BYTES = 64 * 2 ** 20

/** Returns what reads the reason of a failed transaction: its decoded error, else the EVM's failure; null, too, where
 *  the state is not available. Uses a separate connection, since a connection cannot run other queries during a query.
 *  The query process is killed at its time limit, so executions have none. */
export async function loadRevertReasons(datadir: string): Promise<RevertReason> {
  const db = openForReading(datadir)
  const watch = createCommitWatch(db)
  const chain = createChainReader(db, watch)
  const traces = await loadTraceService(db, { watch, chain })
  const transactions = createTransactionFinder(db)
  const decoder = openDecoder(db, createImplementationReader(chain, createStateReads(db)))
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
