import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { TRACE_SCHEMA } from './schemas.js'
import { traceConfigParam, traceDeadline } from './traceConfig.js'
import { requireTracedTransaction, TRACE_ERRORS, TRANSACTION_ERROR } from './traceErrors.js'
import { writeTrace } from './tracers/tracers.js'

export const traceTransaction = defineMethod({
  name: 'debug_traceTransaction',
  summary: 'Trace of a transaction, by executing its block again up to it.',
  description:
    'The result depends on the tracer and has the shape that geth gives it. Struct logs are written while the transaction runs.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam, traceConfigParam],
  result: { name: 'trace', schema: TRACE_SCHEMA },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash, config) => {
    const traces = await context.loadTraces()
    const { block, index } = requireTracedTransaction(context, hash)
    const out = createJsonOutput(context.sendPart)
    const deadline = traceDeadline(context.deadline, config)
    const range = { first: index, last: index, deadline, memoryBytes: context.limits.callMemoryBytes }
    traces.replay(block, range, (execution) => writeTrace(out, config.tracer, execution, { block, index, hash }))
    return out.end()
  },
})
