import { defineMethod } from '../core/method.js'
import { required } from '../core/params.js'
import { findL2Block, starknetBlockId } from './blockId.js'
import { BLOCK_NOT_FOUND, starknetError } from './errors.js'
import { INTEGER_SCHEMA } from './schemas.js'

export const getBlockTransactionCount = defineMethod({
  name: 'starknet_getBlockTransactionCount',
  summary: 'Number of transactions in a layer-2 block.',
  cost: 'point',
  params: [required('block_id', starknetBlockId, 'A tag, or an object with one of block_hash and block_number.')],
  result: { name: 'transaction count', schema: INTEGER_SCHEMA },
  errors: [BLOCK_NOT_FOUND],
  handler: ({ l2 }, id) => {
    const found = findL2Block(l2, id)
    if (found === undefined) throw starknetError(BLOCK_NOT_FOUND, l2)
    if ('pending' in found) return found.pending.transactionHashes.length
    if (found.confirmed.status === 'REJECTED') throw starknetError(BLOCK_NOT_FOUND, l2)
    return found.confirmed.transactionCount
  },
})
