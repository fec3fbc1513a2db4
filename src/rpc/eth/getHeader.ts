import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam, blockNumberParam } from './commonParams.js'
import { formatHeaderOnly } from './format/block.js'
import { HEADER_SCHEMA, orNull } from './schemas.js'

const RESULT = { name: 'header', schema: orNull(HEADER_SCHEMA) }

export const getHeaderByNumber = defineMethod({
  name: 'eth_getHeaderByNumber',
  summary: 'The header of the block with that number, or null.',
  description:
    'The members of a block object that its hash covers, and the hash. `pending` is null, as in geth: that header has no seal.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockNumberParam],
  result: RESULT,
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = id === 'pending' ? undefined : findBlock(chain, id)
    return block ? formatHeaderOnly(block) : null
  },
})

export const getHeaderByHash = defineMethod({
  name: 'eth_getHeaderByHash',
  summary: 'The header of the block with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam],
  result: RESULT,
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatHeaderOnly(block) : null
  },
})
