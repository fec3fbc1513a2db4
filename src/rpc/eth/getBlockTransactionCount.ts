import { formatQuantity } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { index } from '../core/params.js'
import { blockHashParam, blockNumberParam } from './commonParams.js'
import { readPendingBlock } from './pendingBlock.js'
import { orNull } from './schemas.js'

export const getBlockTransactionCountByHash = defineMethod({
  name: 'eth_getBlockTransactionCountByHash',
  summary: 'Number of transactions in the block with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatQuantity(block.txCount) : null
  },
})

export const getBlockTransactionCountByNumber = defineMethod({
  name: 'eth_getBlockTransactionCountByNumber',
  summary: 'Number of transactions in the block with that number, or null.',
  description: 'The pending block is empty, or that of the upstream (`--pending`).',
  cost: 'point',
  classes: ['blocks'],
  params: [blockNumberParam],
  result: { name: 'count', schema: orNull(index.schema) },
  errors: [BLOCK_UNAVAILABLE],
  handler: (context, id) => {
    const block = findBlock(context.chain, id)
    if (!block) return null
    return formatQuantity(id === 'pending' ? readPendingBlock(context, block).transactions.length : block.txCount)
  },
})
