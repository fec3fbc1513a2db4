import { defineMethod } from '../core/method.js'
import { blockIdParam, requireL2Block } from './blockId.js'
import { BLOCK_NOT_FOUND, PART_UNAVAILABLE } from './errors.js'
import { formatWithBody } from './format.js'
import { bodyOf, formatTransactionAt } from './foundTransaction.js'
import { STARKNET_BLOCK_WITH_TXS_SCHEMA } from './schemas.js'

export const getBlockWithTxs = defineMethod({
  name: 'starknet_getBlockWithTxs',
  summary: 'A layer-2 block with its transactions.',
  description: 'The object of specification 0.9. An error if only the hashes of the transactions were recorded.',
  cost: 'scan',
  params: [blockIdParam],
  result: { name: 'block', schema: STARKNET_BLOCK_WITH_TXS_SCHEMA },
  errors: [BLOCK_NOT_FOUND, PART_UNAVAILABLE],
  handler: ({ l2 }, id) => {
    const found = requireL2Block(l2, id)
    const body = bodyOf(l2, found)
    return formatWithBody(
      found,
      body.transactions().map((_, i) => formatTransactionAt(body, i)),
    )
  },
})
