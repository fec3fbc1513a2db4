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

/** The same objects for the logs of a query, as the bytes of a JSON array: what is the same for all logs of a
 *  transaction is written once. */
export function formatLogs(matches: LogMatch[]): JsonBytes {
  const parts: string[] = []
  let last: LogMatch | undefined
  let place = ''
  for (const match of matches) {
    if (match.block !== last?.block || match.transactionIndex !== last.transactionIndex) place = formatPlace(match)
    last = match
    const topics = match.topics.length === 0 ? '' : `"${match.topics.join('","')}"`
    parts.push(
      `{"address":"${match.address}","topics":[${topics}],"data":"${match.data}",${place}` +
        `"logIndex":"${formatQuantity(match.logIndex)}","removed":false}`,
    )
  }
  return new JsonBytes(Buffer.from(`[${parts.join(',')}]`, 'latin1'))
}

function formatPlace({ block, transactionHash, transactionIndex }: LogMatch): string {
  return (
    `"blockNumber":"${formatQuantity(block.number)}","transactionHash":"${formatData(transactionHash)}",` +
    `"transactionIndex":"${formatQuantity(transactionIndex)}","blockHash":"${formatData(block.hash)}",` +
    `"blockTimestamp":"${formatQuantity(block.timestamp)}",`
  )
}
