import { TooManyFilterParams } from '../../logs/errors.js'
import { countFilterParams, type LogFilter } from '../../logs/filter.js'
import type { ChainReader } from '../../store/chainReader.js'
import { resolveNumber } from '../blockId.js'
import { INVALID_PARAMS, invalidParams, LIMIT_EXCEEDED, RpcError, SERVER_ERROR } from '../errors.js'
import { defineMethod } from '../method.js'
import { formatLogs } from './format/log.js'
import { type LogFilterObject, logFilterParam } from './logFilter.js'
import { LOG_SCHEMA } from './schemas.js'

export const getLogs = defineMethod({
  name: 'eth_getLogs',
  summary: 'Logs that a filter wants, in the order of the chain.',
  description:
    'At most 10,000 logs, 5,000 addresses and topic values, and 10 seconds. Topics go by position; a log must have at ' +
    'least as many topics as the list has positions, also where they are null. `pending`, `safe` and `finalized` are ' +
    'the head. A range that begins before the first block held is an error, since logs would be missing.',
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
  handler: ({ chain, logs, limits, deadline }, object) => {
    const { addresses, topics } = object
    const filter: LogFilter = { ...resolveRange(chain, object), addresses, topics }
    const count = countFilterParams(filter)
    if (count > limits.maxFilterParams) throw new TooManyFilterParams({ count, limit: limits.maxFilterParams })
    return formatLogs(logs.query(filter, { deadline, maxResults: limits.maxLogs }))
  },
})

function resolveRange(chain: ChainReader, object: LogFilterObject): { fromBlock: number; toBlock: number } {
  if (object.blockHash) {
    const number = chain.blockNumberByHash(object.blockHash)
    if (number === undefined) throw new RpcError(SERVER_ERROR, 'unknown block')
    return { fromBlock: number, toBlock: number }
  }
  const head = chain.head() ?? 0
  const fromBlock = resolveNumber(chain, object.fromBlock ?? 'latest') ?? head
  const toBlock = resolveNumber(chain, object.toBlock ?? 'latest') ?? head
  // From beyond the head to `latest` is no mistake in the order: it asks too early.
  const early = fromBlock > head && typeof object.toBlock !== 'number'
  if (fromBlock > toBlock && !early) throw invalidParams('invalid block range params')
  if (early || toBlock > head) throw invalidParams('block range extends beyond current head block')
  return { fromBlock, toBlock }
}
