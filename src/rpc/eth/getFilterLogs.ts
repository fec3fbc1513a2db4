import { defineMethod } from '../core/method.js'
import { FILTER_NOT_FOUND } from '../subscriptions/filters.js'
import { filterIdParam } from './filterId.js'
import { getLogs } from './getLogs.js'
import { LOGS_UNAVAILABLE, QUERY_TIMED_OUT, RANGE_BEYOND_HEAD, TOO_MANY_RESULTS, UNKNOWN_BLOCK } from './logErrors.js'

export const getFilterLogs = defineMethod({
  name: 'eth_getFilterLogs',
  summary: 'All logs that match the filter object of an `eth_newFilter`, as `eth_getLogs` returns them.',
  cost: 'scan',
  usesSession: true,
  params: [filterIdParam],
  result: getLogs.result,
  errors: [FILTER_NOT_FOUND, TOO_MANY_RESULTS, QUERY_TIMED_OUT, RANGE_BEYOND_HEAD, UNKNOWN_BLOCK, LOGS_UNAVAILABLE],
  caching: getLogs.caching,
  // Only the main thread knows the filter: the handler receives its request.
  prepareArgs: ({ session }, id) => [session!.filters.requestOf(id as string)],
  handler: (context, filter) => getLogs.handler(context, filter as never),
})
