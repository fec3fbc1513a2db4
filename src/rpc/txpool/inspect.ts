import { defineMethod } from '../core/method.js'
import { EMPTY_POOL, POOL_SCHEMA } from './emptyPool.js'

export const inspect = defineMethod({
  name: 'txpool_inspect',
  summary: 'Transactions of the pool as text: none, since Cairn keeps no pool.',
  cost: 'point',
  params: [],
  result: { name: 'pool', schema: POOL_SCHEMA },
  errors: [],
  handler: () => EMPTY_POOL,
})
