import { formatQuantity } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'
import { blockNumberParam } from './commonParams.js'
import { readPendingBlock } from './pendingBlock.js'
import { orNull } from './schemas.js'

export const getBlockTransactionCountByNumber = defineMethod({
  name: 'eth_getBlockTransactionCountByNumber',
  summary: 'Number of transactions in the block with that number, or null.',
  description: 'The pending block is empty, or that of the upstream (`--pending`).',
  cost: 'point',
  params: [blockNumberParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE],
  handler: (context, id) => {
    const block = findBlock(context.chain, id)
    if (!block) return null
    return formatQuantity(id === 'pending' ? readPendingBlock(context, block).transactions.length : block.txCount)
  },
})
