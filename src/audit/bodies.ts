import { addedType } from '../chain/eth/families/addedTypes.js'
import type { Rules } from '../chain/eth/forks/rules.js'
import { decodeTransaction, encodeTransaction } from '../chain/eth/transaction.js'
import type { Block, Log, Receipt, Transaction } from '../chain/eth/types.js'
import type { RawRows } from '../store/rows/rawRows.js'
import { decodeReceiptRow, RECEIPT_COLUMNS, type ReceiptRow, receiptValues } from '../store/rows/receipt.js'
import {
  decodeTransactionRow,
  TRANSACTION_COLUMNS,
  type TransactionRow,
  transactionValues,
} from '../store/rows/transaction.js'
import type { StoredBlock } from '../store/rows/types.js'
import { deriveReceipt } from '../sync/unexecutedBlock.js'
import { atPlace, DatabaseFault } from './fault.js'
import { readLogRows } from './logRows.js'
import { compareColumns } from './rowComparison.js'

/** Transactions, receipts and logs of a block. */
interface StoredBody {
  /** Decoded from their signed bytes, from which hash, sender and chain id follow. */
  transactions(): Transaction[]
  /** Receipts with all derived fields recomputed. */
  receipts(block: Block, rules: Rules): Receipt[]
}

/** Reads the parts of a block and compares each row with what the writer would store. Its methods throw DatabaseFault
 *  for the first difference. `bloomOf` computes the bloom of logs. */
export function openStoredBody(
  rows: RawRows,
  stored: StoredBlock,
  bloomOf: (logs: readonly Log[]) => Uint8Array,
): StoredBody {
  const { firstTx, txCount, firstLog, logCount } = stored
  const { number } = stored.header
  const placeOf = (table: string, index: number) => ({ table, row: `block ${number}, transaction ${index}` })
  const requireCount = (table: string, expected: number, found: number) => {
    if (found !== expected)
      throw new DatabaseFault({ table, row: `block ${number}` }, { field: 'rows', expected, found })
  }
  const readLogs = (): Log[][] => {
    const byTransaction: Log[][] = Array.from({ length: txCount }, () => [])
    const logs = readLogRows(rows, { blockNumber: number, firstLog, logCount, txCount })
    requireCount('logs', logCount, logs.length)
    for (const { txIndex, log } of logs) byTransaction[txIndex].push(log)
    return byTransaction
  }
  return {
    transactions: () => {
      const found = rows.transactions(firstTx, firstTx + txCount)
      requireCount('transactions', txCount, found.length)
      return found.map((row, index) => {
        const place = placeOf('transactions', index)
        return atPlace(place, () => {
          const read = decodeTransactionRow(row as unknown as TransactionRow)
          const transaction = decodeTransaction(encodeTransaction(read))
          addedType(transaction.type)?.completeFrom(transaction, read)
          compareColumns(place, row, TRANSACTION_COLUMNS, transactionValues(firstTx + index, number, transaction))
          return transaction
        })
      })
    },
    receipts: (block, rules) => {
      const found = rows.receipts(firstTx, firstTx + txCount)
      requireCount('receipts', txCount, found.length)
      const logs = readLogs()
      let gasBefore = 0n
      let nextLog = firstLog
      return found.map((row, index) => {
        const place = placeOf('receipts', index)
        return atPlace(place, () => {
          const transaction = block.transactions[index]
          const read = decodeReceiptRow({
            ...(row as unknown as ReceiptRow),
            type: transaction.type,
            nonce: null,
            deposit: null,
          })
          addedType(transaction.type)?.completeReceipt(read, transaction)
          read.logs = logs[index]
          if (read.logs.length > 0) read.logsBloom = bloomOf(read.logs)
          const gasUsed = read.cumulativeGasUsed - gasBefore
          const receipt = deriveReceipt(block, index, read, gasUsed, rules)
          compareColumns(place, row, RECEIPT_COLUMNS, receiptValues(firstTx + index, receipt, nextLog))
          gasBefore = read.cumulativeGasUsed
          nextLog += read.logs.length
          return receipt
        })
      })
    },
  }
}
