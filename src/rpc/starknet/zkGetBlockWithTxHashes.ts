import { defineMethod } from '../core/method.js'
import { required } from '../core/params.js'
import { findL2Block, zkBlockId } from './blockId.js'
import { formatZkBlock, formatZkPending } from './format.js'
import { ZK_BLOCK_SCHEMA } from './schemas.js'

export const zkGetBlockWithTxHashes = defineMethod({
  name: 'zk_getBlockWithTxHashes',
  summary: 'A layer-2 block with the hashes of its transactions, or null.',
  description:
    'A rejected block is found by its hash only and has `status` `REJECTED`. A pending block has no `block_hash`, ' +
    '`block_number` and `new_root`.',
  cost: 'point',
  classes: ['blocks'],
  params: [required('block_id', zkBlockId, 'A tag, or an object with one of block_hash, block_number and block_tag.')],
  result: { name: 'block', schema: ZK_BLOCK_SCHEMA },
  errors: [],
  handler: ({ l2 }, id) => {
    const found = findL2Block(l2, id)
    if (found === undefined) return null
    return 'pending' in found ? formatZkPending(found.pending) : formatZkBlock(l2, found.confirmed)
  },
})
