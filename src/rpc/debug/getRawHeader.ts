import { encodeHeader } from '../../chain/eth/header.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { orNull } from '../eth/schemas.js'
import { rawBlockParam } from './rawBlockParam.js'

export const getRawHeader = defineMethod({
  name: 'debug_getRawHeader',
  summary: "RLP of a block's header, or null.",
  cost: 'point',
  params: [rawBlockParam],
  result: { name: 'RLP', schema: orNull(data.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    return block ? formatData(encodeHeader(block.header)) : null
  },
})
