import { addedType } from '../../../chain/eth/families/addedTypes.js'
import { familyOf } from '../../../chain/eth/families/families.js'
import type { Transaction } from '../../../chain/eth/types.js'
import { formatLog } from '../../../index/logs/logJson.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import type { ChainReader, StoredBlock, StoredReceipt } from '../../../store/rows/types.js'

/** Formats the receipt of the transaction at `index` of a block. */
export type FormatReceipt = (
  stored: StoredReceipt,
  transaction: Transaction,
  index: number,
) => ReturnType<typeof formatReceipt>

/** Returns a function that formats receipts of a block: the receipt object of the API specification, with what the
 *  family of the chain adds. */
export function createReceiptFormat(chain: ChainReader, block: StoredBlock): FormatReceipt {
  const spec = chain.spec()
  const { receiptMembers } = familyOf(spec)
  if (receiptMembers === undefined) {
    return (stored, transaction, index) => formatReceipt(stored, transaction, { block, index })
  }
  const first = block.txCount === 0 ? undefined : chain.transaction(block, 0)
  const membersOf = receiptMembers(spec, block.header, first)
  return (stored, transaction, index) => ({
    ...formatReceipt(stored, transaction, { block, index }),
    ...addedType(transaction.type)?.receiptMembers(stored.receipt),
    ...membersOf?.(transaction),
  })
}

/** `root` before Byzantium, `status` from then on (EIP-658), never both; blob fields for blob transactions only. */
function formatReceipt(
  stored: StoredReceipt,
  transaction: Transaction,
  { block, index }: { block: StoredBlock; index: number },
) {
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
