import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockHashParam, blockNumberParam, fullTransactionsParam } from './commonParams.js'
import { formatBlock, formatPendingBlock } from './format/block.js'
import { readPendingBlock } from './pendingBlock.js'
import { BLOCK_SCHEMA, orNull } from './schemas.js'

export const getBlockByNumber = defineMethod({
  name: 'eth_getBlockByNumber',
  summary: 'The block with that number, or null.',
  description:
    '`safe` and `finalized` are stored numbers; where none are, the head, since imported files count as final. `pending` ' +
    'is a block on top of the head, with null `hash`, `number`, `nonce` and `logsBloom`; with `--compat geth` it has ' +
    'its `number` and a zero `logsBloom`. It is empty; with `--pending` it is that of the upstream, where that has one.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockNumberParam, fullTransactionsParam],
  result: { name: 'block', schema: orNull(BLOCK_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE],
  handler: (context, id, fullTransactions) => {
    const { chain, compatibility } = context
    const block = findBlock(chain, id)
    if (!block) return null
    if (id !== 'pending') return formatBlock(chain, block, fullTransactions)
    return formatPendingBlock(readPendingBlock(context, block), fullTransactions, compatibility)
  },
})

export const getBlockByHash = defineMethod({
  name: 'eth_getBlockByHash',
  summary: 'The block with that hash, or null.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam, fullTransactionsParam],
  result: { name: 'block', schema: orNull(BLOCK_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, fullTransactions) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return block ? formatBlock(chain, block, fullTransactions) : null
  },
})
