import { HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { transactionHashParam } from './commonParams.js'
import { formatReceipt } from './format/receipt.js'
import { orNull, RECEIPT_SCHEMA } from './schemas.js'

export const getTransactionReceipt = defineMethod({
  name: 'eth_getTransactionReceipt',
  summary: 'Receipt of the transaction with that hash, or null.',
  cost: 'point',
  params: [transactionHashParam],
  result: { name: 'receipt', schema: orNull(RECEIPT_SCHEMA) },
  errors: [HASH_UNAVAILABLE],
  handler: ({ chain, transactions }, hash) => {
    const location = transactions.locate(hash)
    const block = location && chain.blockByNumber(location.blockNumber)
    const transaction = block && chain.transaction(block, location.index)
    const stored = block && chain.receipt(block, location.index)
    if (transaction && stored) return formatReceipt(stored, transaction, block, location.index)
    requireNoGap(chain)
    return null
  },
})
