import type { Transaction } from '../../../chain/eth/types.js'
import { formatLog } from '../../../index/logs/logJson.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import type { StoredBlock, StoredReceipt } from '../../../store/rows/types.js'

/** The receipt object of the API specification: `root` before Byzantium, `status` from then on (EIP-658), never both;
 *  blob fields for blob transactions only. */
export function formatReceipt(stored: StoredReceipt, transaction: Transaction, block: StoredBlock, index: number) {
  const { receipt, firstLog } = stored
  const place = {
    blockNumber: block.header.number,
    blockHash: block.hash,
    blockTimestamp: block.header.timestamp,
    transactionHash: transaction.hash,
    transactionIndex: index,
  }
  const firstLogIndex = firstLog - block.firstLog
  return {
    blobGasPrice: receipt.blobGasPrice === undefined ? undefined : formatQuantity(receipt.blobGasPrice),
    blobGasUsed: receipt.blobGasUsed === undefined ? undefined : formatQuantity(receipt.blobGasUsed),
    blockHash: formatData(block.hash),
    blockNumber: formatQuantity(block.header.number),
    contractAddress: receipt.contractAddress ? formatData(receipt.contractAddress) : null,
    cumulativeGasUsed: formatQuantity(receipt.cumulativeGasUsed),
    effectiveGasPrice: formatQuantity(receipt.effectiveGasPrice),
    from: formatData(transaction.from),
    gasUsed: formatQuantity(receipt.gasUsed),
    logs: receipt.logs.map((log, i) => formatLog(log, { ...place, logIndex: firstLogIndex + i })),
    logsBloom: formatData(receipt.logsBloom),
    root: receipt.root ? formatData(receipt.root) : undefined,
    status: receipt.status === undefined ? undefined : formatQuantity(receipt.status),
    to: transaction.to ? formatData(transaction.to) : null,
    transactionHash: formatData(transaction.hash),
    transactionIndex: formatQuantity(index),
    type: formatQuantity(transaction.type),
  }
}
