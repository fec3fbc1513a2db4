import { DELEGATECALL } from '../../chain/eth/callOpcodes.js'
import type { TracedCall } from '../../evm/tracing/callTree.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { OPCODE_NAMES } from '../debug/tracers/opcodeNames.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { ADDRESS_SCHEMA, DATA_SCHEMA, QUANTITY_SCHEMA } from './schemas.js'
import { type TracedTransaction, traceTransactionCalls } from './tracedCalls.js'

export const traceTransaction = defineMethod({
  name: 'ots_traceTransaction',
  summary: 'The calls of a transaction in the order in which they began, with their depth.',
  description: 'Calls of precompiles are left out. `value` is null where the instruction passes none.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam],
  result: {
    name: 'calls',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          type: { type: 'string' },
          depth: { type: 'integer' },
          from: ADDRESS_SCHEMA,
          to: ADDRESS_SCHEMA,
          value: { oneOf: [QUANTITY_SCHEMA, { type: 'null' }] },
          input: DATA_SCHEMA,
          output: DATA_SCHEMA,
        },
        required: ['type', 'depth', 'from', 'to', 'value', 'input', 'output'],
      },
    },
  },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash) => {
    const traced = await traceTransactionCalls(context, hash)
    const out = createJsonOutput(context.sendPart)
    let separator = '['
    for (const entry of entriesOf(traced.root, 0, traced)) {
      out.write(`${separator}${JSON.stringify(entry)}`)
      separator = ','
    }
    out.write(']')
    return out.end()
  },
})

function* entriesOf(call: TracedCall, depth: number, traced: TracedTransaction): Generator<object> {
  const { opcode, from, to, value, input, output } = call
  if (depth > 0 && traced.isPrecompile(to)) return
  yield {
    type: OPCODE_NAMES[opcode],
    depth,
    from: formatData(from),
    to: formatData(to),
    value: value === undefined || opcode === DELEGATECALL ? null : formatQuantity(value),
    input: formatData(input),
    output: formatData(output),
  }
  for (const each of call.calls) yield* entriesOf(each, depth + 1, traced)
}
