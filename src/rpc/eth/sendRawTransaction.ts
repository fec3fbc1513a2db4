import { METHOD_NOT_FOUND, RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { data, hash32, required } from '../core/params.js'

const NOT_FORWARDED = {
  code: METHOD_NOT_FOUND,
  message:
    'the method eth_sendRawTransaction does not exist/is not available: this server does not forward transactions; ' +
    'it would with --upstream URL --forward-transactions',
} as const

/** Error if every upstream failed. One that timed out may have accepted the transaction. */
export const NO_UPSTREAM_ANSWERED = {
  code: SERVER_ERROR,
  message: 'no upstream answered; the transaction may have been sent all the same',
} as const

// `point`, although the upstream takes its time: none of it is spent on the main thread.
export const sendRawTransaction = defineMethod({
  name: 'eth_sendRawTransaction',
  summary: 'Hash of a signed transaction that is forwarded to the upstream, where the server does that.',
  description:
    'Only with `--upstream URL --forward-transactions`. The upstream checks the transaction; its error is passed on with ' +
    'code and message. If one upstream does not answer, the next one is asked.',
  cost: 'point',
  classes: ['send'],
  chainless: true,
  runsOnce: true,
  params: [required('transaction', data, 'the signed transaction as RLP or as typed envelope (EIP-2718)')],
  result: { name: 'transaction hash', schema: hash32.schema },
  errors: [NOT_FORWARDED, { ...NO_UPSTREAM_ANSWERED, when: 'no upstream can be reached' }],
  handler: ({ forwardTransaction }, transaction) => {
    if (forwardTransaction === undefined) throw new RpcError(NOT_FORWARDED.code, NOT_FORWARDED.message)
    return forwardTransaction(transaction)
  },
})
