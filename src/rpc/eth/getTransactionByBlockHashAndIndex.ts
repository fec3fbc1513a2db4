import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam, transactionIndexParam } from './commonParams.js'
import { formatTransaction } from './format/transaction.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByBlockHashAndIndex = defineMethod({
  name: 'eth_getTransactionByBlockHashAndIndex',
  summary: 'The transaction at that index of the block with that hash, or null.',
  cost: 'point',
  params: [blockHashParam, transactionIndexParam],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, index) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    const transaction = block && chain.transaction(block, index)
    return transaction ? formatTransaction(transaction, block, index) : null
  },
})
