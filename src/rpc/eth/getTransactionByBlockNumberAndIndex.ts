import { BLOCK_NOT_HELD, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockNumberParam, transactionIndexParam } from './commonParams.js'
import { formatTransaction } from './format/transaction.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByBlockNumberAndIndex = defineMethod({
  name: 'eth_getTransactionByBlockNumberAndIndex',
  summary: 'The transaction at that index of the block with that number, or null.',
  description: 'The pending block is empty.',
  cost: 'point',
  params: [blockNumberParam, transactionIndexParam],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: [BLOCK_NOT_HELD],
  handler: ({ chain }, id, index) => {
    const block = id === 'pending' ? undefined : findBlock(chain, id)
    const transaction = block && chain.transaction(block, index)
    return transaction ? formatTransaction(transaction, block, index) : null
  },
})
