import { formatFelt } from '../../chain/starknet/felt.js'
import { defineMethod } from '../core/method.js'
import { PART_UNAVAILABLE, TRANSACTION_NOT_FOUND } from './errors.js'
import { bodyOf, formatReceiptAt, l2TransactionHashParam, requireTransaction } from './foundTransaction.js'
import { STARKNET_RECEIPT_SCHEMA } from './schemas.js'

export const getTransactionReceipt = defineMethod({
  name: 'starknet_getTransactionReceipt',
  summary: 'The receipt of a layer-2 transaction.',
  description: 'Fees, and gas totals of blocks before 0.13.2, that were not recorded are zero.',
  cost: 'scan',
  classes: ['blocks'],
  params: [l2TransactionHashParam],
  result: { name: 'receipt', schema: STARKNET_RECEIPT_SCHEMA },
  errors: [TRANSACTION_NOT_FOUND, PART_UNAVAILABLE],
  handler: ({ l2 }, hash) => {
    const { found, index } = requireTransaction(l2, hash)
    const receipt = formatReceiptAt(bodyOf(l2, found), found, index)
    if ('pending' in found) return { ...receipt, block_number: found.pending.number }
    const { confirmed } = found
    return { ...receipt, block_hash: formatFelt(confirmed.hash), block_number: confirmed.number }
  },
})
