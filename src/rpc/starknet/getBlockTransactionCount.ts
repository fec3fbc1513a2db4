import { defineMethod } from '../core/method.js'
import { blockIdParam, requireL2Block } from './blockId.js'
import { BLOCK_NOT_FOUND } from './errors.js'
import { INTEGER_SCHEMA } from './schemas.js'

export const getBlockTransactionCount = defineMethod({
  name: 'starknet_getBlockTransactionCount',
  summary: 'Number of transactions in a layer-2 block.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockIdParam],
  result: { name: 'transaction count', schema: INTEGER_SCHEMA },
  errors: [BLOCK_NOT_FOUND],
  handler: ({ l2 }, id) => {
    const found = requireL2Block(l2, id)
    if ('pending' in found) return found.pending.transactionHashes.length
    return found.confirmed.transactionCount
  },
})
