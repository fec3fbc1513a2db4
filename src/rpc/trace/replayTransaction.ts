import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { requireTracedTransaction, TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { replayResult, traceKindsParam } from './replayResult.js'
import { REPLAY_SCHEMA } from './schemas.js'

export const replayTransaction = defineMethod({
  name: 'trace_replayTransaction',
  summary: 'Calls, state changes and instructions of a transaction.',
  description:
    "In OpenEthereum's shape. `stateDiff` is of the state before and after the transaction, fees included; `vmTrace` has also `op`.",
  cost: 'evm',
  isTrace: true,
  params: [transactionHashParam, traceKindsParam],
  result: { name: 'replay', schema: REPLAY_SCHEMA },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash, kinds) => {
    const traces = await context.loadTraces()
    const { block, index: at } = requireTracedTransaction(context, hash)
    const { deadline, limits } = context
    let result: object = {}
    const range = { first: at, last: at, deadline, memoryBytes: limits.callMemoryBytes }
    traces.replay(block, range, (execution) => {
      result = replayResult(execution, kinds)
    })
    return result
  },
})
