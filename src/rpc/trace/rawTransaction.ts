import { decodeTransaction } from '../../chain/eth/transaction.js'
import type { Transaction } from '../../chain/eth/types.js'
import { InvalidValue } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { data, required, type ValueType } from '../core/params.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { CALL_REFUSED } from '../eth/callObject.js'
import { traceKindsParam } from './replayResult.js'
import { REPLAY_SCHEMA } from './schemas.js'
import { traceCalls } from './traceCalls.js'

const signedTransaction: ValueType<Transaction> = {
  schema: data.schema,
  decode: (value, path) => {
    const bytes = data.decode(value, path)
    try {
      return decodeTransaction(bytes)
    } catch (cause) {
      throw new InvalidValue(`${path}: expected a signed transaction: ${(cause as Error).message}`)
    }
  },
}

export const rawTransaction = defineMethod({
  name: 'trace_rawTransaction',
  summary: 'Calls, state changes and instructions of a signed transaction on the newest state, without sending it.',
  description: 'Its nonce is not checked. The result is that of `trace_replayTransaction`.',
  cost: 'evm',
  isTrace: true,
  params: [required('transaction', signedTransaction, 'the signed transaction'), traceKindsParam],
  result: { name: 'replay', schema: REPLAY_SCHEMA },
  errors: [...TRACE_ERRORS, { ...CALL_REFUSED, when: 'the sender cannot pay for it' }],
  handler: async (context, transaction, kinds) => {
    const { gasLimit: gas, input, ...rest } = transaction
    const [result] = await traceCalls(context, { id: 'latest' }, [{ request: { ...rest, gas, data: input }, kinds }])
    return result
  },
})
