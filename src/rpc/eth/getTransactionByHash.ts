import { defineMethod } from '../core/method.js'
import { transactionHashParam } from './commonParams.js'
import { formatTransaction } from './format/transaction.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByHash = defineMethod({
  name: 'eth_getTransactionByHash',
  summary: 'The transaction with that hash, or null.',
  cost: 'point',
  params: [transactionHashParam],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: [],
  handler: ({ chain, transactions }, hash) => {
    const location = transactions.locate(hash)
    const block = location && chain.blockByNumber(location.blockNumber)
    const transaction = block && chain.transaction(block, location.index)
    return transaction ? formatTransaction(transaction, block, location.index) : null
  },
})
