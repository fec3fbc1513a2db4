import { formatData } from '../../lib/hex.js'
import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { requireTracedTransaction, TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { DATA_SCHEMA } from './schemas.js'
import { traceTransactionCalls } from './tracedCalls.js'

export const getTransactionError = defineMethod({
  name: 'ots_getTransactionError',
  summary: 'Revert data of a transaction; `0x` if it succeeded or failed without data.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam],
  result: { name: 'revert data', schema: DATA_SCHEMA },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash) => {
    const { block, index } = requireTracedTransaction(context, hash)
    const message = context.traceIndex.calls(block)?.[index][0]
    if (message !== undefined && (message.failure === undefined || message.outputLength === 0)) return '0x'
    const { root } = await traceTransactionCalls(context, hash)
    return root.failure === undefined ? '0x' : formatData(root.output)
  },
})
