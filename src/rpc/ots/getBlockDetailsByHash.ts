import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'
import { BLOCK_DETAILS_SCHEMA, formatBlockDetails } from './blockDetails.js'

export const getBlockDetailsByHash = defineMethod({
  name: 'ots_getBlockDetailsByHash',
  summary: 'A block with its reward and its fees by its hash, or null.',
  description: 'As `ots_getBlockDetails`.',
  cost: 'point',
  params: [blockHashParam],
  result: { name: 'block details', schema: orNull(BLOCK_DETAILS_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatBlockDetails(chain, block) : null
  },
})
