import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, required } from '../core/params.js'
import { transactionHashParam } from './commonParams.js'
import { createReceiptFormat } from './format/receipt.js'
import { orNull, RECEIPT_SCHEMA } from './schemas.js'

export const getTransactionReceipt = defineMethod({
  name: 'eth_getTransactionReceipt',
  summary: 'Receipt of the transaction with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [transactionHashParam],
  result: { name: 'receipt', schema: orNull(RECEIPT_SCHEMA) },
  errors: [HASH_UNAVAILABLE],
  handler: ({ chain, transactions }, hash) => {
    const location = transactions.locate(hash)
    const block = location && chain.blockByNumber(location.blockNumber)
    const transaction = block && chain.transaction(block, location.index)
    const stored = block && chain.receipt(block, location.index)
    if (transaction && stored) return createReceiptFormat(chain, block)(stored, transaction, location.index)
    requireNoGap(chain)
    return null
  },
})

export const getBlockReceipts = defineMethod({
  name: 'eth_getBlockReceipts',
  summary: 'Receipts of a block in transaction order, or null.',
  description: '`pending` answers as `latest`.',
  cost: 'point',
  classes: ['blocks'],
  params: [required('block', blockIdOrDecimal, 'block number in hex or decimal, tag, hash, or EIP-1898 object')],
  result: { name: 'receipts', schema: orNull({ type: 'array', items: RECEIPT_SCHEMA }) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    const transactions = chain.transactions(block)
    const format = createReceiptFormat(chain, block)
    return chain.receipts(block).map((stored, i) => format(stored, transactions[i], i))
  },
})
