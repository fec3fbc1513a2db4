import { defineMethod, JsonBytes } from '../core/method.js'
import { boolean, hash32, optional, required, text } from '../core/params.js'
import { FILTER_NOT_FOUND, TOO_MANY_FILTERS } from '../subscriptions/filters.js'
import { logCriteria } from '../subscriptions/logCriteria.js'
import { getLogs } from './getLogs.js'
import {
  FILTER_ERRORS,
  LOGS_UNAVAILABLE,
  QUERY_TIMED_OUT,
  RANGE_BEYOND_HEAD,
  TOO_MANY_RESULTS,
  UNKNOWN_BLOCK,
} from './logErrors.js'
import { logFilterParam } from './logFilter.js'
import { LOG_SCHEMA } from './schemas.js'

/** The id of a filter as parameter and as result. */
const filterIdParam = required('filter', text, 'id of the filter')
const filterIdResult = { name: 'filter', schema: { type: 'string', title: 'filter id' } } as const

export const newFilter = defineMethod({
  name: 'eth_newFilter',
  summary: 'Makes a filter that collects new logs for `eth_getFilterChanges`.',
  description:
    'The filter belongs to the API key. It is removed when it is not polled for 5 minutes, and when it holds more than ' +
    'the memory for filters allows. With `fromBlock` or `toBlock` it collects only logs of these blocks; older logs are ' +
    'for `eth_getFilterLogs`.',
  cost: 'point',
  classes: ['logs', 'stream'],
  usesSession: true,
  params: [logFilterParam],
  result: filterIdResult,
  errors: [...FILTER_ERRORS, TOO_MANY_FILTERS],
  handler: (context, filter) =>
    context.session!.filters.add({ kind: 'logs', criteria: logCriteria(context, filter) }, filter),
})

export const newBlockFilter = defineMethod({
  name: 'eth_newBlockFilter',
  summary: 'Makes a filter that collects the hashes of new blocks for `eth_getFilterChanges`.',
  cost: 'point',
  classes: ['stream'],
  usesSession: true,
  params: [],
  result: filterIdResult,
  errors: [TOO_MANY_FILTERS],
  handler: ({ session }) => session!.filters.add({ kind: 'newHeads' }),
})

export const newPendingTransactionFilter = defineMethod({
  name: 'eth_newPendingTransactionFilter',
  summary: 'Makes a filter that stays empty, because there is no mempool.',
  cost: 'point',
  classes: ['stream'],
  usesSession: true,
  params: [optional('fullTransactions', boolean, 'has no effect')],
  result: filterIdResult,
  errors: [TOO_MANY_FILTERS],
  handler: ({ session }, _fullTransactions) => session!.filters.add({ kind: 'newPendingTransactions' }),
})

export const getFilterChanges = defineMethod({
  name: 'eth_getFilterChanges',
  summary: 'What a filter has collected since the last poll.',
  description:
    'Logs of an `eth_newFilter` in the order of an `eth_subscribe` to logs: those of blocks that a reorg removed have ' +
    '`removed: true`. Block hashes of an `eth_newBlockFilter`. Each is returned once. Includes every block that an ' +
    'earlier response has shown.',
  cost: 'point',
  classes: ['stream'],
  chainless: true,
  usesSession: true,
  params: [filterIdParam],
  result: { name: 'changes', schema: { type: 'array', items: { oneOf: [LOG_SCHEMA, hash32.schema] } } },
  errors: [FILTER_NOT_FOUND],
  handler: async ({ session }, id) => new JsonBytes(await session!.filters.poll(id)),
})

export const getFilterLogs = defineMethod({
  name: 'eth_getFilterLogs',
  summary: 'All logs that match the filter object of an `eth_newFilter`, as `eth_getLogs` returns them.',
  cost: 'scan',
  classes: ['logs', 'stream'],
  usesSession: true,
  params: [filterIdParam],
  result: getLogs.result,
  errors: [FILTER_NOT_FOUND, TOO_MANY_RESULTS, QUERY_TIMED_OUT, RANGE_BEYOND_HEAD, UNKNOWN_BLOCK, LOGS_UNAVAILABLE],
  caching: getLogs.caching,
  // Only the main thread knows the filter: the handler receives its request.
  prepareArgs: ({ session }, id) => [session!.filters.requestOf(id as string)],
  handler: (context, filter) => getLogs.handler(context, filter as never),
})

export const uninstallFilter = defineMethod({
  name: 'eth_uninstallFilter',
  summary: 'Removes a filter; false if there is no such filter.',
  cost: 'point',
  classes: ['stream'],
  chainless: true,
  usesSession: true,
  params: [filterIdParam],
  result: { name: 'removed', schema: { type: 'boolean' } },
  errors: [],
  handler: ({ session }, id) => session!.filters.remove(id),
})
