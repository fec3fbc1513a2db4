import { defineMethod } from '../core/method.js'
import { TOO_MANY_FILTERS } from '../subscriptions/filters.js'
import { filterIdResult } from './filterId.js'

export const newBlockFilter = defineMethod({
  name: 'eth_newBlockFilter',
  summary: 'Makes a filter that collects the hashes of new blocks for `eth_getFilterChanges`.',
  cost: 'point',
  usesSession: true,
  params: [],
  result: filterIdResult,
  errors: [TOO_MANY_FILTERS],
  handler: ({ session }) => session!.filters.add({ kind: 'newHeads' }),
})
