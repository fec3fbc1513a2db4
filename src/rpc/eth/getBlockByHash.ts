import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam, fullTransactionsParam } from './commonParams.js'
import { formatBlock } from './format/block.js'
import { BLOCK_SCHEMA, orNull } from './schemas.js'

export const getBlockByHash = defineMethod({
  name: 'eth_getBlockByHash',
  summary: 'The block with that hash, or null.',
  cost: 'point',
  params: [blockHashParam, fullTransactionsParam],
  result: { name: 'block', schema: orNull(BLOCK_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, fullTransactions) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatBlock(chain, block, fullTransactions) : null
  },
})
