import { defineMethod } from '../core/method.js'
import { TOO_MANY_FILTERS } from '../subscriptions/filters.js'
import { logCriteria } from '../subscriptions/logCriteria.js'
import { filterIdResult } from './filterId.js'
import { FILTER_ERRORS } from './logErrors.js'
import { logFilterParam } from './logFilter.js'

export const newFilter = defineMethod({
  name: 'eth_newFilter',
  summary: 'Makes a filter that collects new logs for `eth_getFilterChanges`.',
  description:
    'The filter belongs to the API key. It is removed when it is not polled for 5 minutes, and when it holds more than ' +
    'the memory for filters allows. With `fromBlock` or `toBlock` it collects only logs of these blocks; older logs are ' +
    'for `eth_getFilterLogs`.',
  cost: 'point',
  usesSession: true,
  params: [logFilterParam],
  result: filterIdResult,
  errors: [...FILTER_ERRORS, TOO_MANY_FILTERS],
  handler: (context, filter) =>
    context.session!.filters.add({ kind: 'logs', criteria: logCriteria(context, filter) }, filter),
})
