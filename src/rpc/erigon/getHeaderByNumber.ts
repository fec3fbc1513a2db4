import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, required } from '../core/params.js'
import { formatHead } from '../eth/format/block.js'
import { HEAD_SCHEMA, orNull } from '../eth/schemas.js'

export const getHeaderByNumber = defineMethod({
  name: 'erigon_getHeaderByNumber',
  summary: 'The header of the block with that number, or null.',
  description:
    'Otterscan connects only to a node that answers it. The header is the object that `newHeads` subscribers get.',
  cost: 'point',
  classes: ['blocks'],
  params: [required('block', blockIdOrDecimal, 'block number in hex or decimal, or tag')],
  result: { name: 'header', schema: orNull(HEAD_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? formatHead(block) : null
  },
})
