import { defineMethod } from '../core/method.js'
import { FILTER_ERRORS, RANGE_BEYOND_HEAD, UNKNOWN_BLOCK } from '../eth/logErrors.js'
import { logFilterParam } from '../eth/logFilter.js'
import { resolveFilter } from '../eth/resolveFilter.js'
import { EXPLANATION_SCHEMA } from './explanationSchema.js'
import { formatExplanation } from './formatFacts.js'

export const explainLogs = defineMethod({
  name: 'cairn_explainLogs',
  summary: 'Shows how `eth_getLogs` runs for a filter, where its time goes, and how to make it faster.',
  description:
    'A Cairn extension. Runs the query and returns its trace instead of the logs: the plan; each index segment used, with ' +
    'its clauses in evaluation order, their keys and log counts; the tail scan; candidates, rows read, matched and ' +
    'rejected; milliseconds per step; and advice. More than 10,000 logs, a timeout and a range that starts before the ' +
    'first stored block are outcomes here, not errors, with the trace up to that point. Counts are JSON numbers, block ' +
    'numbers are quantities; `rpc_discover` has the full schema.',
  cost: 'scan',
  classes: ['logs'],
  params: [logFilterParam],
  result: { name: 'explanation', schema: EXPLANATION_SCHEMA },
  errors: [...FILTER_ERRORS, RANGE_BEYOND_HEAD, UNKNOWN_BLOCK],
  handler: (context, object) => {
    const { logs, limits, deadline } = context
    const filter = resolveFilter(context, object)
    const explanation = logs.explain(filter, { deadline, maxResults: limits.maxLogs })
    const json = formatExplanation(explanation)
    if (object.fromBlock !== undefined || object.blockHash !== undefined) return json
    return { ...json, advice: ['fromBlock is absent: only the latest block is looked at', ...json.advice] }
  },
})
