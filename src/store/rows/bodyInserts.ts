import type { Block, Receipt } from '../../chain/eth/types.js'
import { createBoundBytes } from '../boundBytes.js'
import type { RowValue } from '../columns.js'
import type { Database } from '../database.js'
import { createRowBatch, ROWS_AT_ONCE } from '../rowBatch.js'
import { createLogInserts } from './log.js'
import { RECEIPT_COLUMNS, receiptValues } from './receipt.js'
import { TRANSACTION_COLUMNS, transactionValues } from './transaction.js'

/** Ids of the first transaction and the first log of a block. */
export interface FirstIds {
  tx: number
  log: number
}

/** Inserts the parts of blocks: transactions, receipts and logs. */
interface BodyInserts {
  insert(block: Block, receipts: readonly Receipt[], first: FirstIds): void
  /** Discards cached state and unwritten rows. Call it after a rollback. */
  clear(): void
}

const WORD = 32

/** Creates the inserts over a database opened for writing. */
export function createBodyInserts(db: Database): BodyInserts {
  const transactionRows = createRowBatch(db, 'transactions', TRANSACTION_COLUMNS)
  const receiptRows = createRowBatch(db, 'receipts', RECEIPT_COLUMNS)
  const logs = createLogInserts(db)
  const bound = Array.from({ length: ROWS_AT_ONCE }, () => TRANSACTION_COLUMNS.map(() => createBoundBytes(WORD)))
  /** Bytes of arrays that V8 keeps in its heap are moved out of it when they are bound, which takes longer than a
   *  copy. */
  const boundAsViews = (row: number, values: RowValue[]) => {
    for (const [i, value] of values.entries()) {
      if (value instanceof Uint8Array && value.length <= WORD) values[i] = bound[row][i](value, 0, value.length)
    }
    return values
  }
  return {
    insert: ({ header, transactions }, receipts, first) => {
      let logId = first.log
      transactions.forEach((transaction, index) => {
        const receipt = receipts[index]
        const values = transactionValues(first.tx + index, header.number, transaction)
        transactionRows.add(...boundAsViews(transactionRows.row, values))
        receiptRows.add(...receiptValues(first.tx + index, receipt, logId))
        for (const log of receipt.logs) logs.insert(logId++, index, log)
      })
      for (const rows of [transactionRows, receiptRows, logs]) rows.flush()
    },
    clear: () => {
      for (const rows of [transactionRows, receiptRows, logs]) rows.clear()
    },
  }
}
