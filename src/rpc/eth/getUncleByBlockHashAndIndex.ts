import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam, uncleIndexParam } from './commonParams.js'
import { orNull, UNCLE_SCHEMA } from './schemas.js'
import { uncleOfBlock } from './uncleOfBlock.js'

export const getUncleByBlockHashAndIndex = defineMethod({
  name: 'eth_getUncleByBlockHashAndIndex',
  summary: 'The uncle at that index of the block with that hash, or null.',
  cost: 'point',
  params: [blockHashParam, uncleIndexParam],
  result: { name: 'uncle', schema: orNull(UNCLE_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, index) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? uncleOfBlock(chain, block, index) : null
  },
})
