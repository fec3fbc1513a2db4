import { BLOCK_NOT_HELD, findBlock } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockNumberParam, fullTransactionsParam } from './commonParams.js'
import { formatBlock, formatPendingBlock } from './format/block.js'
import { buildPendingBlock } from './pendingBlock.js'
import { BLOCK_SCHEMA, orNull } from './schemas.js'

export const getBlockByNumber = defineMethod({
  name: 'eth_getBlockByNumber',
  summary: 'The block with that number, or null.',
  description:
    '`safe` and `finalized` are stored numbers; where none are, the head, since imported files count as final. `pending` ' +
    'is an empty block on top of the head, with null `hash`, `number`, `nonce` and `logsBloom`; with `--pending-block ' +
    'geth` it has its `number` and a zero `logsBloom`.',
  cost: 'point',
  params: [blockNumberParam, fullTransactionsParam],
  result: { name: 'block', schema: orNull(BLOCK_SCHEMA) },
  errors: [BLOCK_NOT_HELD],
  handler: ({ chain, pendingBlock }, id, fullTransactions) => {
    const block = findBlock(chain, id)
    if (!block) return null
    if (id !== 'pending') return formatBlock(chain, block, fullTransactions)
    const { header, totalDifficulty } = buildPendingBlock(chain.spec(), block, Date.now())
    return formatPendingBlock(header, totalDifficulty, pendingBlock)
  },
})
