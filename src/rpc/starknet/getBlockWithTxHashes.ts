import { defineMethod } from '../core/method.js'
import { blockIdParam, requireL2Block } from './blockId.js'
import { BLOCK_NOT_FOUND } from './errors.js'
import { formatStarknetBlock, formatStarknetPending } from './format.js'
import { STARKNET_BLOCK_SCHEMA } from './schemas.js'

export const getBlockWithTxHashes = defineMethod({
  name: 'starknet_getBlockWithTxHashes',
  summary: 'A layer-2 block with the hashes of its transactions.',
  description:
    'The object of specification 0.9, with the commitments and counts of 0.10 as far as they are known. ' +
    'Gas prices that the recording lacks are zero.',
  cost: 'point',
  params: [blockIdParam],
  result: { name: 'block', schema: STARKNET_BLOCK_SCHEMA },
  errors: [BLOCK_NOT_FOUND],
  handler: ({ l2 }, id) => {
    const found = requireL2Block(l2, id)
    if ('pending' in found) return formatStarknetPending(found.pending)
    return formatStarknetBlock(l2, found.confirmed)
  },
})
