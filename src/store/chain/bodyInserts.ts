import type { Block, Receipt } from '../../chain/eth/types.js'
import type { Database, Statement } from '../database.js'
import { createLogInserts } from '../logs/logInserts.js'
import { createBodyPacker, type FirstIds, readPackedBody } from '../tip/packedBody.js'
import { RECEIPT_COLUMNS, type RowValue, receiptValues, TRANSACTION_COLUMNS, transactionValues } from './bodyRows.js'

/** Inserts of what blocks hold: transactions, receipts and logs. */
export interface BodyInserts {
  /** As rows. No block before is packed. */
  insert(block: Block, receipts: readonly Receipt[], first: FirstIds): void
  /** As one row of bytes. No block before is packed. */
  pack(block: Block, receipts: readonly Receipt[], first: FirstIds): void
  /** Makes the rows of the packed block; false when there is none. */
  unpack(): boolean
  /** To be called after a rollback. */
  forget(): void
}

/** The inserts of a database opened for writing. */
export function createBodyInserts(db: Database): BodyInserts {
  const transactionRows = prepareInsert(db, 'transactions', TRANSACTION_COLUMNS)
  const receiptRows = prepareInsert(db, 'receipts', RECEIPT_COLUMNS)
  const logs = createLogInserts(db)
  const packed = db.prepare<[], Buffer>('SELECT data FROM packed_bodies').pluck()
  const insertPacked = db.prepare('INSERT INTO packed_bodies (block_number, data) VALUES (?, ?)')
  const deletePacked = db.prepare('DELETE FROM packed_bodies')
  const pack = createBodyPacker()
  /** Whether a block is packed; undefined: the table knows. */
  let isPacked: boolean | undefined
  return {
    insert: ({ header, transactions }, receipts, first) => {
      let logId = first.log
      transactions.forEach((transaction, index) => {
        const receipt = receipts[index]
        transactionRows.run(...transactionValues(first.tx + index, header.number, transaction))
        receiptRows.run(...receiptValues(first.tx + index, receipt, logId))
        for (const log of receipt.logs) logs.insert(logId++, index, log)
      })
      logs.flush()
    },
    pack: (block, receipts, first) => {
      insertPacked.run(block.header.number, pack(block, receipts, first))
      isPacked = true
    },
    unpack: () => {
      const data = isPacked === false ? undefined : packed.get()
      isPacked = false
      if (!data) return false
      const body = readPackedBody(data)
      for (const row of body.transactions) transactionRows.run(...TRANSACTION_COLUMNS.map((name) => bound(row[name])))
      for (const row of body.receipts) receiptRows.run(...RECEIPT_COLUMNS.map((name) => bound(row[name])))
      for (const { id, txIndex, log } of body.logs) logs.insert(id, txIndex, log)
      logs.flush()
      deletePacked.run()
      return true
    },
    forget: () => {
      logs.forget()
      isPacked = undefined
    },
  }
}

function prepareInsert(db: Database, table: string, columns: readonly string[]): Statement {
  return db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
}

/** The value as `transactionValues` gave it: a number would be kept as a REAL by columns without affinity. */
function bound(value: Exclude<RowValue, bigint>): RowValue {
  return typeof value === 'number' ? BigInt(value) : value
}
