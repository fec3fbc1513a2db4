import { defineMethod } from '../core/method.js'
import { EMPTY_POOL, POOL_SCHEMA } from './emptyPool.js'

export const content = defineMethod({
  name: 'txpool_content',
  summary: 'Transactions of the pool by sender and nonce: none, since Cairn keeps no pool.',
  cost: 'point',
  params: [],
  result: { name: 'pool', schema: POOL_SCHEMA },
  errors: [],
  handler: () => EMPTY_POOL,
})
