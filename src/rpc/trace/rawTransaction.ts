import { decodeTransaction } from '../../chain/eth/transaction.js'
import type { Transaction } from '../../chain/eth/types.js'
import { InvalidValue, RpcError, SERVER_ERROR } from '../core/errors.js'
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

const OTHER_CHAIN = { code: SERVER_ERROR, message: 'invalid chain id for signer: have … want …' } as const

export const rawTransaction = defineMethod({
  name: 'trace_rawTransaction',
  summary: 'Calls, state changes and instructions of a signed transaction on the newest state, without sending it.',
  description:
    'It is checked as a transaction of the chain, its nonce aside. The result is that of `trace_replayTransaction`.',
  cost: 'evm',
  classes: ['calls', 'traces'],
  isTrace: true,
  params: [required('transaction', signedTransaction, 'the signed transaction'), traceKindsParam],
  result: { name: 'replay', schema: REPLAY_SCHEMA },
  errors: [...TRACE_ERRORS, OTHER_CHAIN, { ...CALL_REFUSED, when: 'the sender cannot pay for it' }],
  handler: async (context, transaction, kinds) => {
    const { gasLimit: gas, input: data, chainId, ...rest } = transaction
    const served = context.chain.chainId()
    if (chainId !== undefined && chainId !== served) {
      throw new RpcError(OTHER_CHAIN.code, `invalid chain id for signer: have ${chainId} want ${served}`)
    }
    const call = { request: { ...rest, gas, data }, kinds, isTransaction: true }
    const [result] = await traceCalls(context, { id: 'latest' }, [call])
    return result
  },
})
