import { equalBytes } from '../../lib/bytes.js'
import { HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { transactionHashParam } from './commonParams.js'
import { formatPendingTransaction, formatTransaction } from './format/transaction.js'
import { orNull, TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByHash = defineMethod({
  name: 'eth_getTransactionByHash',
  summary: 'The transaction with that hash, or null.',
  description: 'With `--pending` also one of the pending block of the upstream.',
  cost: 'point',
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
