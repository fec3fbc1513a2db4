import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockNumberParam, uncleIndexParam } from './commonParams.js'
import { orNull, UNCLE_SCHEMA } from './schemas.js'
import { uncleOfBlock } from './uncleOfBlock.js'

export const getUncleByBlockNumberAndIndex = defineMethod({
  name: 'eth_getUncleByBlockNumberAndIndex',
  summary: 'The uncle at that index of the block with that number, or null.',
  description: 'The pending block has no uncles.',
  cost: 'point',
  params: [blockNumberParam, uncleIndexParam],
  result: { name: 'uncle', schema: orNull(UNCLE_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id, index) => {
    const block = id === 'pending' ? undefined : findBlock(chain, id)
    return block ? uncleOfBlock(chain, block, index) : null
  },
})
