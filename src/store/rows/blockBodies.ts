import { bloomOf } from '../../chain/eth/bloom.js'
import type { Log, Receipt } from '../../chain/eth/types.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { Database } from '../database.js'
import {
  decodeLogData,
  decodeReceiptRow,
  decodeTopics,
  decodeTransactionRow,
  type ReceiptRow,
  type TransactionRow,
} from './blockRows.js'
import type { ChainReader, StoredReceipt, TransactionFee } from './types.js'

/** Reads the parts of blocks. An index passed in must exist in the block. */
export type BlockBodies = Pick<
  ChainReader,
  'transactionHashes' | 'transactions' | 'transaction' | 'receipts' | 'receipt' | 'transactionFees'
>

interface LogRow {
  address: Uint8Array
  topic0: Uint8Array | null
  topic1: Uint8Array | null
  topic2: Uint8Array | null
  topic3: Uint8Array | null
  data: Uint8Array
  data_length: number | null
}

interface FeeRow {
  gas_used: StoredUint
  effective_gas_price: StoredUint
}

const RECEIPT_COLUMNS = `t.type, r.status, r.root, r.cumulative_gas_used, r.gas_used, r.effective_gas_price,
  r.contract_address, r.blob_gas_used, r.blob_gas_price, r.first_log, r.n_logs`

/** Creates a reader of the bodies of stored blocks, with statements prepared once. */
export function createBlockBodies(db: Database): BlockBodies {
  const selectHashes = db
    .prepare<[number, number], Uint8Array>('SELECT hash FROM transactions WHERE id >= ? AND id < ? ORDER BY id')
    .pluck()
  const selectTransactions = db.prepare<[number, number], TransactionRow>(
    'SELECT * FROM transactions WHERE id >= ? AND id < ? ORDER BY id',
  )
  const selectReceipts = db.prepare<[number, number], ReceiptRow>(
    `SELECT ${RECEIPT_COLUMNS} FROM receipts r JOIN transactions t ON t.id = r.tx_id
     WHERE r.tx_id >= ? AND r.tx_id < ? ORDER BY r.tx_id`,
  )
  const selectFees = db.prepare<[number, number], FeeRow>(
    'SELECT gas_used, effective_gas_price FROM receipts WHERE tx_id >= ? AND tx_id < ? ORDER BY tx_id',
  )
  const selectLogs = db.prepare<[number, number], LogRow>(
    `SELECT a.address, z.topic AS topic0, l.topic1, l.topic2, l.topic3, l.data, l.data_length
     FROM logs l JOIN addresses a ON a.id = l.address_id LEFT JOIN topics z ON z.id = l.topic0_id
     WHERE l.id >= ? AND l.id < ? ORDER BY l.id`,
  )
  const receiptRange = (from: number, to: number): StoredReceipt[] =>
    selectReceipts.all(from, to).map((row) => {
      const logs = row.n_logs === 0 ? [] : selectLogs.all(row.first_log, row.first_log + row.n_logs).map(decodeLogRow)
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

function decodeLogRow(row: LogRow): Log {
  return {
    address: row.address,
    topics: decodeTopics(row.topic0, row.topic1, row.topic2, row.topic3),
    data: decodeLogData(row.data, row.data_length),
  }
}
