import type { Log } from '../../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import type { LogTexts } from '../../../logs/logText.js'
import { JsonBytes } from '../../method.js'

/** Where a log lies in the chain. */
export interface LogPlace {
  blockNumber: number
  blockHash: Uint8Array // 32
  blockTimestamp: number // seconds
  transactionHash: Uint8Array // 32
  transactionIndex: number
  logIndex: number
}

/** The log object of the contract, with `blockTimestamp`. A canonical log is never `removed`. */
export function formatLog(log: Log, place: LogPlace) {
  return {
    address: formatData(log.address),
    topics: log.topics.map(formatData),
    data: formatData(log.data),
    blockNumber: formatQuantity(place.blockNumber),
    transactionHash: formatData(place.transactionHash),
    transactionIndex: formatQuantity(place.transactionIndex),
    blockHash: formatData(place.blockHash),
    blockTimestamp: formatQuantity(place.blockTimestamp),
    logIndex: formatQuantity(place.logIndex),
    removed: false,
  }
}

/** The JSON of the logs of a query, with ASCII text before and behind: written by the query in the form of `formatLog`, here
 *  only joined, in one buffer. */
export function wrapLogs({ parts }: LogTexts, before: string, after: string): JsonBytes {
  const size = parts.reduce((sum, part) => sum + part.length + 1, before.length + after.length)
  const bytes = Buffer.allocUnsafe(size)
  let end = bytes.write(before, 'latin1')
  for (const [i, part] of parts.entries()) {
    if (i > 0) end += bytes.write(',', end, 'latin1')
    end += part.copy(bytes, end)
  }
  end += bytes.write(after, end, 'latin1')
  return new JsonBytes(bytes.subarray(0, end))
}
