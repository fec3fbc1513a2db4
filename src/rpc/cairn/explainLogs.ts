import { INVALID_PARAMS, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { logFilterParam } from '../eth/logFilter.js'
import { resolveFilter } from '../eth/resolveFilter.js'
import { EXPLANATION_SCHEMA } from './explanationSchema.js'
import { formatExplanation } from './formatFacts.js'

export const explainLogs = defineMethod({
  name: 'cairn_explainLogs',
  summary: 'What `eth_getLogs` does for a filter, where its time goes, and what would be better.',
  description:
    'Cairn’s own. Runs the query and gives the facts instead of the logs: the plan; each segment of the index that was ' +
    'looked into, with the clauses in the order in which they were asked, their keys and how many logs they have; the ' +
    'scan of the tail; candidates, rows read, met and rejected; milliseconds by step; and advice in sentences. More than ' +
    '10,000 logs, a timeout and a range that begins before the first block held are outcomes here, with the facts until ' +
    'then. Counts are JSON numbers and block numbers are quantities; `rpc_discover` has the schema with every member.',
  cost: 'scan',
  params: [logFilterParam],
  result: { name: 'explanation', schema: EXPLANATION_SCHEMA },
  errors: [
    { code: INVALID_PARAMS, message: 'query contains N parameters, the limit is 5000' },
    { code: INVALID_PARAMS, message: 'invalid block range params' },
    { code: INVALID_PARAMS, message: 'block range extends beyond current head block' },
    { code: SERVER_ERROR, message: 'unknown block' },
  ],
  handler: (context, object) => {
    const { logs, limits, deadline } = context
    const filter = resolveFilter(context, object)
    const explanation = logs.explain(filter, { deadline, maxResults: limits.maxLogs })
    const json = formatExplanation(explanation)
    if (object.fromBlock !== undefined || object.blockHash !== undefined) return json
    return { ...json, advice: ['fromBlock is absent: only the latest block is looked at', ...json.advice] }
  },
})
