import assert from 'node:assert/strict'
import { TooManyLogs } from '../../../src/index/logs/errors.js'
import type { LogFilter } from '../../../src/index/logs/filter.js'
import type { LogSource } from '../../../src/index/logs/query.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { asPlaced, expectedMatches, textOf } from './randomFilters.js'
import type { PlacedLog } from './randomLogs.js'

/** Asks for more logs than may be given: the refusal must name the largest range from the filter's first block on that
 *  holds few enough, and that range must be answered. @returns whether there is such a range */
export function checkRefusal(source: LogSource, logs: PlacedLog[], filter: LogFilter, maxResults: number): boolean {
  const options = { deadline: noDeadline, maxResults }
  let refusal: unknown
  assert.throws(
    () => source.query(filter, options),
    (error) => {
      refusal = error
      return error instanceof TooManyLogs
    },
  )
  const { fits } = refusal as TooManyLogs
  const to = expectedMatches(logs, filter)[maxResults].blockNumber - 1
  if (to < filter.fromBlock) {
    assert.equal(fits, undefined)
    return false
  }
  assert.deepEqual(fits, { from: filter.fromBlock, to })
  const fitting = { ...filter, toBlock: to }
  assert.deepEqual(asPlaced(source.query(fitting, options)).map(textOf), expectedMatches(logs, fitting).map(textOf))
  return true
}
