import { formatQuantity } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'
import { blockNumberParam } from './commonParams.js'
import { orNull } from './schemas.js'

export const getUncleCountByBlockNumber = defineMethod({
  name: 'eth_getUncleCountByBlockNumber',
  summary: 'Number of uncles in the block with that number, or null.',
  description: 'The pending block is empty.',
  cost: 'point',
  params: [blockNumberParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? formatQuantity(id === 'pending' ? 0 : chain.uncleHashes(block.header.number).length) : null
  },
})
