import type { Block, Log, Receipt } from '../../chain/eth/types.js'
import type { ReceiptRow, TransactionRow } from '../chain/blockRows.js'
import { RECEIPT_COLUMNS, receiptValues, TRANSACTION_COLUMNS, transactionValues } from '../chain/bodyRows.js'
import { createValueReader, createValueWriter, type PackedValue } from './packedValues.js'

/** A log of a packed body. */
export interface PackedLog {
  id: number
  txIndex: number
  log: Log
}

/** A row of `receipts`; the type is the transaction's. */
export type PackedReceipt = Omit<ReceiptRow, 'type'> & { tx_id: number }

/** What a block holds, as the rows that it will be. */
export interface PackedBody {
  transactions: TransactionRow[]
  receipts: PackedReceipt[]
  logs: PackedLog[]
}

/** Ids of the first transaction and the first log of a block. */
export interface FirstIds {
  tx: number
  log: number
}

/** Packs transactions, receipts and logs of a block into bytes, which the next call overwrites. */
export type BodyPacker = (block: Block, receipts: readonly Receipt[], first: FirstIds) => Buffer

/** A packer that keeps its memory from one block to the next. Packing takes a tenth of the time of inserting the rows. */
export function createBodyPacker(): BodyPacker {
  const writer = createValueWriter()
  return ({ header, transactions }, receipts, first) => {
    writer.clear()
    writer.add([transactions.length])
    let firstLog = first.log
    for (let i = 0; i < transactions.length; i++) {
      const { logs } = receipts[i]
      writer.add(transactionValues(first.tx + i, header.number, transactions[i]))
      writer.add(receiptValues(first.tx + i, receipts[i], firstLog))
      firstLog += logs.length
      for (const { address, topics, data } of logs) writer.add([address, topics.length, ...topics, data])
    }
    return writer.take()
  }
}

/** The body that was packed; its bytes are views of `packed`. @throws Error when it is none. */
export function readPackedBody(packed: Buffer): PackedBody {
  const next = createValueReader(packed)
  const count = next() as number
  const transactions: TransactionRow[] = []
  const receipts: PackedReceipt[] = []
  const logs: PackedLog[] = []
  for (let txIndex = 0; txIndex < count; txIndex++) {
    transactions.push(readRow(next, TRANSACTION_COLUMNS))
    const receipt: PackedReceipt = readRow(next, RECEIPT_COLUMNS)
    receipts.push(receipt)
    for (let i = 0; i < receipt.n_logs; i++) logs.push({ id: receipt.first_log + i, txIndex, log: readLog(next) })
  }
  return { transactions, receipts, logs }
}

function readRow<Row>(next: () => PackedValue, columns: readonly string[]): Row {
  const row: { [column: string]: PackedValue } = {}
  for (const column of columns) row[column] = next()
  return row as Row
}

function readLog(next: () => PackedValue): Log {
  const address = next() as Uint8Array
  const topics = Array.from({ length: next() as number }, () => next() as Uint8Array)
  return { address, topics, data: next() as Uint8Array }
}
