import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, required } from '../core/params.js'
import { requireTracedTransaction, TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'
import { replayResult, traceKindsParam } from './replayResult.js'
import { REPLAY_SCHEMA } from './schemas.js'

export const replayTransaction = defineMethod({
  name: 'trace_replayTransaction',
  summary: 'Calls, state changes and instructions of a transaction.',
  description:
    "In OpenEthereum's shape. `stateDiff` is of the state before and after the transaction, fees included; `vmTrace` has also `op`.",
  cost: 'evm',
  classes: ['traces'],
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

export const replayBlockTransactions = defineMethod({
  name: 'trace_replayBlockTransactions',
  summary: 'Calls, state changes and instructions of all transactions of a block, or null.',
  description: 'As `trace_replayTransaction`, with the hash of each transaction.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [
    required('block', blockIdOrDecimal, 'block number in hex or decimal, tag, hash, or EIP-1898 object'),
    traceKindsParam,
  ],
  result: { name: 'replays', schema: orNull({ type: 'array', items: REPLAY_SCHEMA }) },
  errors: [BLOCK_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, id, kinds) => {
    const traces = await context.loadTraces()
    const block = findBlock(context.chain, id)
    if (block === undefined) return null
    const out = createJsonOutput(context.sendPart)
    const { deadline, limits } = context
    out.write('[')
    if (block.txCount > 0) {
      traces.replay(block, { deadline, memoryBytes: limits.callMemoryBytes }, (execution) => {
        const { index, transaction } = execution
        const result = { ...replayResult(execution, kinds), transactionHash: formatData(transaction.hash) }
        out.write(`${index === 0 ? '' : ','}${JSON.stringify(result)}`)
      })
    }
    out.write(']')
    return out.end()
  },
})
