import type { Log } from '../../chain/eth/types.js'
import { formatData, formatQuantity } from '../../lib/hex.js'

/** Position of a log in the chain. */
export interface LogPosition {
  blockNumber: number
  blockHash: Uint8Array // 32
  blockTimestamp: bigint // Unix seconds
  transactionHash: Uint8Array // 32
  transactionIndex: number
  logIndex: number
}

/** The log object of the API specification, with `blockTimestamp`. `removed` is always false for a canonical log. */
export function formatLog(log: Log, position: LogPosition) {
  return {
    address: formatData(log.address),
    topics: log.topics.map(formatData),
    data: formatData(log.data),
    blockNumber: formatQuantity(position.blockNumber),
    transactionHash: formatData(position.transactionHash),
    transactionIndex: formatQuantity(position.transactionIndex),
    blockHash: formatData(position.blockHash),
    blockTimestamp: formatQuantity(position.blockTimestamp),
    logIndex: formatQuantity(position.logIndex),
    removed: false,
  }
}
