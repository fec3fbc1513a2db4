import { defineMethod } from '../core/method.js'
import { boolean, optional } from '../core/params.js'
import { TOO_MANY_FILTERS } from '../subscriptions/filters.js'
import { filterIdResult } from './filterId.js'

export const newPendingTransactionFilter = defineMethod({
  name: 'eth_newPendingTransactionFilter',
  summary: 'Makes a filter that stays empty, because there is no mempool.',
  cost: 'point',
  usesSession: true,
  params: [optional('fullTransactions', boolean, 'has no effect')],
  result: filterIdResult,
  errors: [TOO_MANY_FILTERS],
  handler: ({ session }, _fullTransactions) => session!.filters.add({ kind: 'newPendingTransactions' }),
})
