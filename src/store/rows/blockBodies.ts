import { bloomOf } from '../../chain/eth/bloom.js'
import type { Log, Receipt } from '../../chain/eth/types.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import { createLogReader } from './log.js'
import { decodeReceiptRow, type ReceiptRow, SELECT_RECEIPTS } from './receipt.js'
import { decodeTransactionRow, prepareTransactionHashes, type TransactionRow } from './transaction.js'
import type { ChainReader, StoredReceipt, TransactionFee } from './types.js'

/** Reads the parts of blocks. An index passed in must exist in the block. */
type BlockBodies = Pick<
  ChainReader,
  'transactionHashes' | 'transactions' | 'transaction' | 'receipts' | 'receipt' | 'transactionFees'
>

interface FeeRow {
  gas_used: StoredUint
  effective_gas_price: StoredUint
}

/** Creates a reader of the bodies of stored blocks, with statements prepared once. */
export function createBlockBodies(db: Database): BlockBodies {
  const selectHashes = prepareTransactionHashes(db)
  const selectTransactions = db.prepare<[number, number], TransactionRow>(
    'SELECT * FROM transactions WHERE id >= ? AND id < ? ORDER BY id',
  )
  const selectReceipts = db.prepare<[number, number], ReceiptRow>(SELECT_RECEIPTS)
  const selectFees = db.prepare<[number, number], FeeRow>(
    'SELECT gas_used, effective_gas_price FROM receipts WHERE tx_id >= ? AND tx_id < ? ORDER BY tx_id',
  )
  const readLogs = createLogReader(db)
  const receiptRange = (from: number, to: number): StoredReceipt[] =>
    selectReceipts.all(from, to).map((row) => {
      const logs = row.n_logs === 0 ? [] : readLogs(row.first_log, row.first_log + row.n_logs)
      return storedReceipt(row, logs)
    })
  return {
    transactionHashes: (block) => selectHashes.all(block.firstTx, block.firstTx + block.txCount),
    transactions: (block) =>
      selectTransactions.all(block.firstTx, block.firstTx + block.txCount).map(decodeTransactionRow),
    transaction: (block, index) => {
      const id = block.firstTx + index
      return decodeTransactionRow(selectTransactions.get(id, id + 1)!)
    },
    receipts: (block) => receiptRange(block.firstTx, block.firstTx + block.txCount),
    receipt: (block, index) => receiptRange(block.firstTx + index, block.firstTx + index + 1)[0],
    transactionFees: (block) => selectFees.all(block.firstTx, block.firstTx + block.txCount).map(decodeFees),
  }
}

function storedReceipt(row: ReceiptRow, logs: Log[]): StoredReceipt {
  const receipt: Receipt = decodeReceiptRow(row)
  if (logs.length > 0) {
    receipt.logs = logs
    receipt.logsBloom = bloomOf(logs)
  }
  return { receipt, firstLog: row.first_log }
}

function decodeFees(row: FeeRow): TransactionFee {
  return { gasUsed: decodeUint(row.gas_used), effectiveGasPrice: decodeUint(row.effective_gas_price) }
}
