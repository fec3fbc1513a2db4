import { defineMethod } from '../core/method.js'
import { blockIdParam, requireL2Block } from './blockId.js'
import { BLOCK_NOT_FOUND, PART_UNAVAILABLE } from './errors.js'
import { formatStarknetBlock, formatStarknetPending, formatWithBody } from './format.js'
import { bodyOf, formatReceiptAt, formatTransactionAt } from './foundTransaction.js'
import {
  STARKNET_BLOCK_SCHEMA,
  STARKNET_BLOCK_WITH_RECEIPTS_SCHEMA,
  STARKNET_BLOCK_WITH_TXS_SCHEMA,
} from './schemas.js'

export const getBlockWithTxHashes = defineMethod({
  name: 'starknet_getBlockWithTxHashes',
  summary: 'A layer-2 block with the hashes of its transactions.',
  description:
    'The object of specification 0.9, with the commitments and counts of 0.10 as far as they are known. ' +
    'Gas prices that the recording lacks are zero.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockIdParam],
  result: { name: 'block', schema: STARKNET_BLOCK_SCHEMA },
  errors: [BLOCK_NOT_FOUND],
  handler: ({ l2 }, id) => {
    const found = requireL2Block(l2, id)
    if ('pending' in found) return formatStarknetPending(found.pending)
    return formatStarknetBlock(l2, found.confirmed)
  },
})

export const getBlockWithTxs = defineMethod({
  name: 'starknet_getBlockWithTxs',
  summary: 'A layer-2 block with its transactions.',
  description: 'The object of specification 0.9. An error if only the hashes of the transactions were recorded.',
  cost: 'scan',
  classes: ['blocks'],
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

export const getBlockWithReceipts = defineMethod({
  name: 'starknet_getBlockWithReceipts',
  summary: 'A layer-2 block with its transactions and their receipts.',
  description:
    'The object of specification 0.9. Fees, and gas totals of blocks before 0.13.2, that were not recorded are zero. An error ' +
    'if receipts were not recorded.',
  cost: 'scan',
  classes: ['blocks'],
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
