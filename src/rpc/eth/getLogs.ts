import { tooManyLogsMessage } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { logWhenSlow } from '../core/slowLogs.js'
import { wrapLogs } from './format/log.js'
import {
  FILTER_ERRORS,
  LOGS_UNAVAILABLE,
  QUERY_TIMED_OUT,
  RANGE_BEYOND_HEAD,
  TOO_MANY_RESULTS,
  UNKNOWN_BLOCK,
} from './logErrors.js'
import { logFilterParam } from './logFilter.js'
import { logFilterCacheKey } from './logFilterCacheKey.js'
import { logFilterCostKey } from './logFilterCostKey.js'
import { resolveFilter, resolveFilterBlocks } from './resolveFilter.js'
import { LOG_SCHEMA } from './schemas.js'

export const getLogs = defineMethod({
  name: 'eth_getLogs',
  summary: 'Logs that match a filter, in chain order.',
  description:
    'At most 10,000 logs, 5,000 addresses and topic values, and 10 seconds. Topics match by position; a log must have at ' +
    'least as many topics as the list has positions, null positions included. `pending` means the head. ' +
    'A range that starts before the first stored block is an error, because logs would be missing. Error ' +
    '-32005 has `data` `{from, to}` if a narrower range is known to succeed; a range beyond the head has `{head}`.',
  cost: 'scan',
  classes: ['logs'],
  costKey: ([object]) => logFilterCostKey(object),
  params: [logFilterParam],
  result: { name: 'logs', schema: { type: 'array', items: LOG_SCHEMA } },
  errors: [TOO_MANY_RESULTS, QUERY_TIMED_OUT, ...FILTER_ERRORS, RANGE_BEYOND_HEAD, UNKNOWN_BLOCK, LOGS_UNAVAILABLE],
  caching: {
    resolveBlocks: (context, call) => resolveFilterBlocks(context, call.arg(0)),
    key: (call) => logFilterCacheKey(call.arg(0)),
    // Clients retry a refused query, because the code allows it. Timeouts are not cached: the query may not be their
    // cause.
    keepsError: ({ message }, { limits }) => message === tooManyLogsMessage(limits.maxLogs),
  },
  handler: (context, object) => {
    const { logs, limits, deadline, askForHelp } = context
    const filter = resolveFilter(context, object)
    return logWhenSlow(context, 'eth_getLogs', (trace) => {
      const found = logs.query(filter, { deadline, maxResults: limits.maxLogs, trace, askForHelp })
      return { value: wrapLogs(found, '[', ']'), results: found.count, outcome: 'answered' }
    })
  },
})
