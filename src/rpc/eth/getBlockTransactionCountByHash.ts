import { formatQuantity } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'
import { blockHashParam } from './commonParams.js'
import { orNull } from './schemas.js'

export const getBlockTransactionCountByHash = defineMethod({
  name: 'eth_getBlockTransactionCountByHash',
  summary: 'Number of transactions in the block with that hash, or null.',
  cost: 'point',
  params: [blockHashParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatQuantity(block.txCount) : null
  },
})
