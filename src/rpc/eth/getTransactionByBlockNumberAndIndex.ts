import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockNumberParam, transactionIndexParam } from './commonParams.js'
import { formatPendingTransaction, formatTransaction } from './format/transaction.js'
import { readPendingBlock } from './pendingBlock.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByBlockNumberAndIndex = defineMethod({
  name: 'eth_getTransactionByBlockNumberAndIndex',
  summary: 'The transaction at that index of the block with that number, or null.',
  description: 'The pending block is empty, or that of the upstream (`--pending`).',
  cost: 'point',
  params: [blockNumberParam, transactionIndexParam],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE],
  handler: (context, id, index) => {
    const { chain } = context
    const block = findBlock(chain, id)
    if (!block) return null
    if (id === 'pending') {
      const { transactions, header } = readPendingBlock(context, block)
      return index < transactions.length ? formatPendingTransaction(transactions[index], header) : null
    }
    const transaction = chain.transaction(block, index)
    return transaction ? formatTransaction(transaction, block, index) : null
  },
})
