import { defineMethod } from '../core/method.js'
import { address, required } from '../core/params.js'
import { EMPTY_POOL, POOL_SCHEMA } from './emptyPool.js'

export const contentFrom = defineMethod({
  name: 'txpool_contentFrom',
  summary: 'Transactions of a sender in the pool by nonce: none, since Cairn keeps no pool.',
  cost: 'point',
  params: [required('address', address, 'address of the sender')],
  result: { name: 'pool', schema: POOL_SCHEMA },
  errors: [],
  handler: (_context, _sender) => EMPTY_POOL,
})
