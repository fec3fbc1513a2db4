import { INVALID_PARAMS, LIMIT_EXCEEDED, SERVER_ERROR, tooManyLogsMessage } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { logWhenSlow } from '../core/slowLogs.js'
import { wrapLogs } from './format/log.js'
import { logFilterParam } from './logFilter.js'
import { logFilterCacheKey } from './logFilterCacheKey.js'
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
  params: [logFilterParam],
  result: { name: 'logs', schema: { type: 'array', items: LOG_SCHEMA } },
  errors: [
    { code: LIMIT_EXCEEDED, message: 'query returned more than 10000 results' },
    { code: LIMIT_EXCEEDED, message: 'query timeout exceeded' },
    { code: INVALID_PARAMS, message: 'query contains N parameters, the limit is 5000' },
    { code: INVALID_PARAMS, message: 'exceed max topics' },
    {
      code: INVALID_PARAMS,
      message: 'invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
    },
    { code: INVALID_PARAMS, message: 'invalid block range params' },
    { code: INVALID_PARAMS, message: 'block range extends beyond current head block' },
    { code: SERVER_ERROR, message: 'unknown block' },
    { code: SERVER_ERROR, message: 'logs before block N are not held, the first block is N' },
  ],
  caching: {
    resolveBlocks: (context, call) => resolveFilterBlocks(context, call.arg(0)),
    key: (call) => logFilterCacheKey(call.arg(0)),
    // Clients retry a refused query, because the code allows it. Timeouts are not cached: they may have other causes than
    // the query.
    keepsError: ({ message }, { limits }) => message === tooManyLogsMessage(limits.maxLogs),
  },
  handler: (context, object) => {
    const { logs, limits, deadline } = context
    const filter = resolveFilter(context, object)
    return logWhenSlow(context, 'eth_getLogs', (trace) => {
      const found = logs.query(filter, { deadline, maxResults: limits.maxLogs, trace })
      return { value: wrapLogs(found, '[', ']'), results: found.count, outcome: 'answered' }
    })
  },
})
