import type { PackedBlock } from '../store/tip/packedBlock.js'
import type { PackedLog } from '../store/tip/packedBody.js'
import { TooManyLogs } from './errors.js'
import { createFilterTest, type LogFilter } from './filter.js'
import { formatLog } from './logObject.js'
import type { LogTexts } from './logText.js'
import type { IdRange } from './rowFilter.js'
import type { LogTrace } from './trace.js'

interface PackedSearch {
  /** Ids of the filter's range. */
  range: IdRange
  maxResults: number
  trace?: LogTrace
}

/** The logs of an answer, with those of the packed block that the filter wants behind them.
 *  @throws TooManyLogs beyond `maxResults` logs */
export function addPackedLogs(before: LogTexts, block: PackedBlock, filter: LogFilter, search: PackedSearch): LogTexts {
  const { maxResults } = search
  const found = find(block, filter, search)
  const room = maxResults - before.count
  if (found.length > room) {
    throw new TooManyLogs({ limit: maxResults, log: found[room].id })
  }
  return join(before, block, found)
}

/** The same for a page, with as many of them as there is room for. `nextId` is the first for which there is none. */
export function fillWithPackedLogs(
  before: LogTexts,
  block: PackedBlock,
  filter: LogFilter,
  search: PackedSearch,
): { logs: LogTexts; nextId?: number } {
  const found = find(block, filter, search)
  const room = search.maxResults - before.count
  return { logs: join(before, block, found.slice(0, room)), nextId: found[room]?.id }
}

function find(block: PackedBlock, filter: LogFilter, { range: { from, to }, trace }: PackedSearch): PackedLog[] {
  trace?.step('verify')
  const inRange = block.body.logs.filter(({ id }) => id >= from && id < to)
  const isWanted = createFilterTest(filter)
  const found = inRange.filter(({ log }) => isWanted(log))
  trace?.fetched(inRange.length)
  trace?.verified(inRange.length, found.length)
  trace?.step('format')
  return found
}

function join({ count, parts }: LogTexts, block: PackedBlock, found: PackedLog[]): LogTexts {
  if (found.length === 0) return { count, parts }
  return { count: count + found.length, parts: [...parts, write(block, found)] }
}

/** The texts of logs, joined by commas. */
function write({ number, hash, timestamp, firstLog, body }: PackedBlock, logs: PackedLog[]): Buffer {
  const texts = logs.map(({ id, txIndex, log }) =>
    JSON.stringify(
      formatLog(log, {
        blockNumber: number,
        blockHash: hash,
        blockTimestamp: timestamp,
        transactionHash: body.transactions[txIndex].hash,
        transactionIndex: txIndex,
        logIndex: id - firstLog,
      }),
    ),
  )
  return Buffer.from(texts.join(','), 'latin1')
}
