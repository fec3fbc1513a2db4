import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { arrayOf, index, required } from '../core/params.js'
import { TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'
import { tracesOfTransaction } from './flatTraces.js'
import { FLAT_TRACE_SCHEMA, FLAT_TRACES_SCHEMA } from './schemas.js'

export const traceTransaction = defineMethod({
  name: 'trace_transaction',
  summary: 'Calls of a transaction, by executing its block again up to it.',
  description: "In OpenEthereum's shape: parents before children, without calls to precompiles.",
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam],
  result: { name: 'traces', schema: FLAT_TRACES_SCHEMA },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash) => (await tracesOfTransaction(context, hash)).map(({ json }) => json),
})

export const get = defineMethod({
  name: 'trace_get',
  summary: 'One call of a transaction by its trace address, or null.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam, required('traceAddress', arrayOf(index), 'the trace address, in quantities')],
  result: { name: 'trace', schema: orNull(FLAT_TRACE_SCHEMA) },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash, address) => {
    const key = address.join()
    return (
      (await tracesOfTransaction(context, hash)).find(({ traceAddress }) => traceAddress.join() === key)?.json ?? null
    )
  },
})
