import type { Log } from '../../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import type { LogMatch } from '../../../logs/query.js'
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

// A transfer's, with all its members.
const TYPICAL_LOG_BYTES = 700

/** The same objects for the logs of a query, as the bytes of a JSON array: what is the same for all logs of a
 *  transaction is written once. */
export function formatLogs(matches: LogMatch[]): JsonBytes {
  // Every log's text goes straight into one buffer: a joined string of megabytes would be copied twice more.
  let bytes = Buffer.allocUnsafe(64 + matches.length * TYPICAL_LOG_BYTES)
  let end = bytes.write('[', 'latin1')
  let last: LogMatch | undefined
  let place = ''
  for (const match of matches) {
    if (match.block !== last?.block || match.transactionIndex !== last.transactionIndex) place = formatPlace(match)
    const topics = match.topics.length === 0 ? '' : `"${match.topics.join('","')}"`
    const text =
      `${last ? ',' : ''}{"address":"${match.address}","topics":[${topics}],"data":"${match.data}",${place}` +
      `"logIndex":"${formatQuantity(match.logIndex)}","removed":false}`
    last = match
    if (end + text.length + 1 > bytes.length) {
      bytes = Buffer.concat([bytes.subarray(0, end)], Math.max(bytes.length * 2, end + text.length + 1))
    }
    end += bytes.write(text, end, 'latin1')
  }
  end += bytes.write(']', end, 'latin1')
  return new JsonBytes(bytes.subarray(0, end))
}

function formatPlace({ block, transactionHash, transactionIndex }: LogMatch): string {
  return (
    `"blockNumber":"${formatQuantity(block.number)}","transactionHash":"${formatData(transactionHash)}",` +
    `"transactionIndex":"${formatQuantity(transactionIndex)}","blockHash":"${formatData(block.hash)}",` +
    `"blockTimestamp":"${formatQuantity(block.timestamp)}",`
  )
}
