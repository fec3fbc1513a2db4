import type { Log } from '../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../lib/hex.js'

/** Where a log lies in the chain. */
export interface LogPlace {
  blockNumber: number
  blockHash: Uint8Array // 32
  blockTimestamp: bigint // Unix seconds
  transactionHash: Uint8Array // 32
  transactionIndex: number
  logIndex: number
}

/** The log object of the API specification, with `blockTimestamp`. A canonical log is never `removed`. */
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
