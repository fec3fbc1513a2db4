import { deadlineAfter } from '../../lib/deadline.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { cursorStateErrors } from '../core/cursor.js'
import { INVALID_PARAMS } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { integerBetween, optional, text } from '../core/params.js'
import { logWhenSlow } from '../core/slowLogs.js'
import { wrapLogs } from './format/log.js'
import { decodeCursor, encodeCursor } from './logCursor.js'
import { FILTER_ERRORS, LOGS_UNAVAILABLE, RANGE_BEYOND_HEAD, UNKNOWN_BLOCK } from './logErrors.js'
import { logFilterParam } from './logFilter.js'
import { resolveFilter } from './resolveFilter.js'
import { LOG_SCHEMA } from './schemas.js'

// A page ends after this time even if it is not full, well before the deadline of a log query.
const SLICE_MS = 2_000
const MAX_PAGE = 10_000

export const getLogsWithCursor = defineMethod({
  name: 'eth_getLogsWithCursor',
  summary: 'Logs that match a filter, page by page, without a total limit or timeout.',
  description:
    'A Cairn extension. The first call has no cursor; each further call repeats the filter with the cursor of the previous ' +
    'page, until `cursor` is null. A page has at most `limit` logs and may be empty: it also ends after about two seconds. ' +
    'A page may end inside a block; all pages together equal one `eth_getLogs` result. `scannedTo` is the last completed ' +
    'block, null if none; `headHash` is the hash of the last block of the query, fixed by the first page. A cursor is ' +
    'valid on every server of the chain with the same secret (`--cursor-secret-file`); without one, for the database that ' +
    'issued it and its copies. If a scanned block is replaced by a reorg, the next page is an ' +
    'error with the first replaced block in `data.forkBlock`.',
  cost: 'scan',
  classes: ['logs'],
  params: [
    logFilterParam,
    optional('cursor', text, 'From the page before'),
    optional('limit', integerBetween(1, MAX_PAGE), 'Logs of the page at most', MAX_PAGE),
  ],
  result: {
    name: 'page',
    schema: {
      type: 'object',
      required: ['logs', 'cursor', 'scannedTo', 'headHash'],
      properties: {
        logs: { type: 'array', items: LOG_SCHEMA },
        cursor: { type: ['string', 'null'] },
        scannedTo: { type: ['string', 'null'] },
        headHash: { type: 'string' },
      },
    },
  },
  errors: [
    {
      code: INVALID_PARAMS,
      message: 'invalid argument 1: cursor: is of another filter; send the same filter with each page',
    },
    {
      code: INVALID_PARAMS,
      message: 'invalid argument 1: cursor: was altered, or given by another database; begin again without a cursor',
    },
    ...cursorStateErrors('a reorg replaced a block that an earlier page has read'),
    ...FILTER_ERRORS,
    RANGE_BEYOND_HEAD,
    UNKNOWN_BLOCK,
    LOGS_UNAVAILABLE,
  ],
  handler: (context, object, cursorText, limit) => {
    const { chain, logs, limits } = context
    const cursor = cursorText === undefined ? undefined : decodeCursor(cursorText, object, context)
    const resolved = resolveFilter(context, object)
    const filter = cursor ? { ...resolved, toBlock: cursor.toBlock } : resolved
    const page = logWhenSlow(context, 'eth_getLogsWithCursor', (trace) => {
      const found = logs.page(filter, {
        from: cursor && { blockNumber: cursor.seenBlock, logIndex: cursor.nextIndex },
        maxResults: Math.min(limit, limits.maxLogs),
        sliceEnds: deadlineAfter(Math.min(SLICE_MS, limits.logsTimeoutMs / 2)),
        trace,
      })
      return { value: found, results: found.logs.count, outcome: 'page' }
    })
    const { toBlock } = filter
    const { blockNumber: seenBlock, logIndex: nextIndex } = page.next ?? {}
    const next =
      seenBlock === undefined || nextIndex === undefined
        ? null
        : encodeCursor({ nextIndex, toBlock, seenBlock }, object, context)
    const rest = {
      cursor: next,
      scannedTo: page.scannedTo < filter.fromBlock ? null : formatQuantity(page.scannedTo),
      headHash: formatData(chain.blockHash(Math.min(filter.toBlock, chain.head()!))!),
    }
    return wrapLogs(page.logs, '{"logs":[', `],${JSON.stringify(rest).slice(1)}`)
  },
})
