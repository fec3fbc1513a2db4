import { CALL, CREATE, CREATE2, SELFDESTRUCT } from '../../chain/eth/callOpcodes.js'
import type { TracedCall } from '../../evm/tracing/callTree.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { effectiveTraces } from '../../store/rows/placeCalls.js'
import { HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { requireTracedTransaction, TRACE_ERRORS, TRANSACTION_ERROR } from '../debug/traceErrors.js'
import { transactionHashParam } from '../eth/commonParams.js'
import { ADDRESS_SCHEMA, QUANTITY_SCHEMA } from './schemas.js'
import { effectiveCalls, traceTransactionCalls } from './tracedCalls.js'

/** Otterscan's numbers of operations (types.ts, OperationType), by opcode. */
const OPERATIONS: ReadonlyMap<number, number> = new Map([
  [CALL, 0],
  [SELFDESTRUCT, 1],
  [CREATE, 2],
  [CREATE2, 3],
])

export const getInternalOperations = defineMethod({
  name: 'ots_getInternalOperations',
  summary: 'Transfers of ether, creations and destructions that the contracts of a transaction made.',
  description:
    '`type` is 0 for a transfer, 1 for SELFDESTRUCT, 2 for CREATE, 3 for CREATE2. Operations that were reverted are left out. From the trace index where it has the block.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [transactionHashParam],
  result: {
    name: 'operations',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          type: { type: 'integer', enum: [0, 1, 2, 3] },
          from: ADDRESS_SCHEMA,
          to: ADDRESS_SCHEMA,
          value: QUANTITY_SCHEMA,
        },
        required: ['type', 'from', 'to', 'value'],
      },
    },
  },
  errors: [TRANSACTION_ERROR, HASH_UNAVAILABLE, ...TRACE_ERRORS],
  handler: async (context, hash) => {
    const { block, index } = requireTracedTransaction(context, hash)
    const { traceIndex } = context
    const indexed = traceIndex.calls(block)?.[index]
    if (indexed !== undefined) {
      const { addressOf } = traceIndex
      const calls = Array.from(effectiveTraces(indexed)).slice(1).filter(isOperation)
      return calls.map((call) => format({ ...call, from: addressOf(call.from), to: addressOf(call.to) }))
    }
    const { root } = await traceTransactionCalls(context, hash)
    const [, ...internal] = effectiveCalls(root)
    return internal.filter(isOperation).map(format)
  },
})

function format({ opcode, from, to, value = 0n }: Pick<TracedCall, 'opcode' | 'from' | 'to' | 'value'>): object {
  return { type: OPERATIONS.get(opcode), from: formatData(from), to: formatData(to), value: formatQuantity(value) }
}

function isOperation({ opcode, value }: Pick<TracedCall, 'opcode' | 'value'>): boolean {
  return opcode === CALL ? value !== undefined && value > 0n : OPERATIONS.has(opcode)
}
