import { encodeBlock } from '../../chain/eth/block.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { orNull } from '../eth/schemas.js'
import { rawBlockParam } from './rawBlockParam.js'

export const getRawBlock = defineMethod({
  name: 'debug_getRawBlock',
  summary: 'RLP of a block, or null.',
  cost: 'point',
  params: [rawBlockParam],
  result: { name: 'RLP', schema: orNull(data.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    const { header, withdrawals } = block
    const transactions = chain.transactions(block)
    return formatData(encodeBlock({ header, transactions, uncles: chain.uncles(header.number), withdrawals }))
  },
})
