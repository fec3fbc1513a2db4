import { defineMethod } from '../core/method.js'
import { required } from '../core/params.js'
import { findL2Block, starknetBlockId } from './blockId.js'
import { BLOCK_NOT_FOUND, starknetError } from './errors.js'
import { formatStarknetBlock, formatStarknetPending } from './format.js'
import { STARKNET_BLOCK_SCHEMA } from './schemas.js'

export const getBlockWithTxHashes = defineMethod({
  name: 'starknet_getBlockWithTxHashes',
  summary: 'A layer-2 block with the hashes of its transactions.',
  description:
    'The object of specification 0.9, with the commitments and counts of 0.10 as far as they are known. ' +
    'Gas prices that the recording lacks are zero.',
  cost: 'point',
  params: [required('block_id', starknetBlockId, 'A tag, or an object with one of block_hash and block_number.')],
  result: { name: 'block', schema: STARKNET_BLOCK_SCHEMA },
  errors: [BLOCK_NOT_FOUND],
  handler: ({ l2 }, id) => {
    const found = findL2Block(l2, id)
    if (found === undefined) throw starknetError(BLOCK_NOT_FOUND, l2)
    if ('pending' in found) return formatStarknetPending(found.pending)
    // The Starknet specification has no status for a rejected block.
    if (found.confirmed.status === 'REJECTED') throw starknetError(BLOCK_NOT_FOUND, l2)
    return formatStarknetBlock(l2, found.confirmed)
  },
})
