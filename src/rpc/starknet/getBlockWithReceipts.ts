import { defineMethod } from '../core/method.js'
import { blockIdParam, requireL2Block } from './blockId.js'
import { BLOCK_NOT_FOUND, PART_UNAVAILABLE } from './errors.js'
import { formatWithBody } from './format.js'
import { bodyOf, formatReceiptAt } from './foundTransaction.js'
import { STARKNET_BLOCK_WITH_RECEIPTS_SCHEMA } from './schemas.js'

export const getBlockWithReceipts = defineMethod({
  name: 'starknet_getBlockWithReceipts',
  summary: 'A layer-2 block with its transactions and their receipts.',
  description:
    'The object of specification 0.9. Fees, and gas totals of blocks before 0.13.2, that were not recorded are zero. An error ' +
    'if receipts were not recorded.',
  cost: 'scan',
  params: [blockIdParam],
  result: { name: 'block', schema: STARKNET_BLOCK_WITH_RECEIPTS_SCHEMA },
  errors: [BLOCK_NOT_FOUND, PART_UNAVAILABLE],
  handler: ({ l2 }, id) => {
    const found = requireL2Block(l2, id)
    const body = bodyOf(l2, found)
    const pairs = body.receipts().map(({ transaction }, i) => ({
      transaction,
      receipt: formatReceiptAt(body, found, i),
    }))
    return formatWithBody(found, pairs)
  },
})
