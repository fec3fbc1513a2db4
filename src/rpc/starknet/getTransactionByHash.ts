import { defineMethod } from '../core/method.js'
import { PART_UNAVAILABLE, TRANSACTION_NOT_FOUND } from './errors.js'
import { bodyOf, formatTransactionAt, l2TransactionHashParam, requireTransaction } from './foundTransaction.js'
import { STARKNET_TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByHash = defineMethod({
  name: 'starknet_getTransactionByHash',
  summary: 'A layer-2 transaction by its hash.',
  cost: 'scan',
  classes: ['blocks'],
  params: [l2TransactionHashParam],
  result: { name: 'transaction', schema: STARKNET_TRANSACTION_SCHEMA },
  errors: [TRANSACTION_NOT_FOUND, PART_UNAVAILABLE],
  handler: ({ l2 }, hash) => {
    const { found, index } = requireTransaction(l2, hash)
    return formatTransactionAt(bodyOf(l2, found), index)
  },
})
