import { defineMethod } from '../core/method.js'
import { integerBetween, required } from '../core/params.js'
import { blockIdParam, requireL2Block } from './blockId.js'
import { BLOCK_NOT_FOUND, INVALID_TRANSACTION_INDEX, PART_UNAVAILABLE, starknetError } from './errors.js'
import { bodyOf, formatTransactionAt } from './foundTransaction.js'
import { STARKNET_TRANSACTION_SCHEMA } from './schemas.js'

export const getTransactionByBlockIdAndIndex = defineMethod({
  name: 'starknet_getTransactionByBlockIdAndIndex',
  summary: 'A layer-2 transaction by its block and its index there.',
  cost: 'scan',
  classes: ['blocks'],
  params: [blockIdParam, required('index', integerBetween(0, Number.MAX_SAFE_INTEGER), 'index in the block')],
  result: { name: 'transaction', schema: STARKNET_TRANSACTION_SCHEMA },
  errors: [BLOCK_NOT_FOUND, INVALID_TRANSACTION_INDEX, PART_UNAVAILABLE],
  handler: ({ l2 }, id, index) => {
    const found = requireL2Block(l2, id)
    const count = 'pending' in found ? found.pending.transactionHashes.length : found.confirmed.transactionCount
    if (index >= count) throw starknetError(INVALID_TRANSACTION_INDEX, l2)
    return formatTransactionAt(bodyOf(l2, found), index)
  },
})
