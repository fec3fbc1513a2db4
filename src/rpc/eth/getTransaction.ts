import { equalBytes } from '../../lib/bytes.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam, blockNumberParam, transactionHashParam, transactionIndexParam } from './commonParams.js'
import { formatPendingTransaction, formatTransaction } from './format/transaction.js'
import { readPendingBlock } from './pendingBlock.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByHash = defineMethod({
  name: 'eth_getTransactionByHash',
  summary: 'The transaction with that hash, or null.',
  description: 'With `--pending` also one of the pending block of the upstream.',
  cost: 'point',
  classes: ['blocks'],
  params: [transactionHashParam],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: [HASH_UNAVAILABLE],
  handler: ({ chain, transactions, upstreamPending }, hash) => {
    const location = transactions.locate(hash)
    const block = location && chain.blockByNumber(location.blockNumber)
    const transaction = block && chain.transaction(block, location.index)
    if (transaction) return formatTransaction(transaction, block, location.index)
    const pending = upstreamPending()
    const waiting = pending?.transactions.find((each) => equalBytes(each.hash, hash))
    if (waiting) return formatPendingTransaction(waiting, pending!.header)
    requireNoGap(chain)
    return null
  },
})

export const getTransactionByBlockHashAndIndex = defineMethod({
  name: 'eth_getTransactionByBlockHashAndIndex',
  summary: 'The transaction at that index of the block with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam, transactionIndexParam],
  result: { name: 'transaction', schema: orNull(TRANSACTION_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, index) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    const transaction = block && chain.transaction(block, index)
    return transaction ? formatTransaction(transaction, block, index) : null
  },
})

export const getTransactionByBlockNumberAndIndex = defineMethod({
  name: 'eth_getTransactionByBlockNumberAndIndex',
  summary: 'The transaction at that index of the block with that number, or null.',
  description: 'The pending block is empty, or that of the upstream (`--pending`).',
  cost: 'point',
  classes: ['blocks'],
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
