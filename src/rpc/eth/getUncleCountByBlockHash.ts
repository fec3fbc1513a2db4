import { formatQuantity } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'
import { blockHashParam } from './commonParams.js'
import { orNull } from './schemas.js'

export const getUncleCountByBlockHash = defineMethod({
  name: 'eth_getUncleCountByBlockHash',
  summary: 'Number of uncles in the block with that hash, or null.',
  cost: 'point',
  params: [blockHashParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatQuantity(chain.uncleHashes(block.header.number).length) : null
  },
})
