import { Interruption } from '../../lib/errors.js'
import type { Database } from '../database.js'
import type { ChainReader, StoredBlock } from './types.js'

/** The requested part of a block exceeds the limit of this reader. */
export class LongBody extends Interruption {
  /** Estimated size of its JSON. */
  readonly sizeBytes: number

  constructor(sizeBytes: number) {
    super(`about ${sizeBytes} bytes of JSON are more than this reader reads`)
    this.sizeBytes = sizeBytes
  }
}

// JSON besides the bytes whose number is known: names, quantities, hashes, and the bloom filter of a receipt.
const TRANSACTION_BYTES = 700
const RECEIPT_BYTES = 1200
const LOG_BYTES = 650
const FEE_BYTES = 60
const HASH_BYTES = 69
/** Hex digits of a byte. */
const DIGITS = 2
/** Gas of a byte of log data (Yellow Paper, G_logdata): the gas used by a block bounds its logs without a read. */
const GAS_PER_LOG_BYTE = 8

/** Creates a reader of the same blocks that refuses bodies whose JSON is estimated above `maxBytes`, before it reads
 *  them.
 *  @throws LongBody */
export function createShortBodies(chain: ChainReader, db: Database, maxBytes: number): ChainReader {
  const selectDataBytes = db
    .prepare<[number, number], number>('SELECT total(coalesce(data_length, 32)) FROM logs WHERE id >= ? AND id < ?')
    .pluck()
  const selectLogs = db.prepare<[number], { from: number; to: number }>(
    'SELECT first_log AS "from", first_log + n_logs AS "to" FROM receipts WHERE tx_id = ?',
  )
  const selectTransactionBytes = db
    .prepare<[number], number>(
      `SELECT length(input) + coalesce(length(access_list), 0) + coalesce(length(authorization_list), 0)
         + coalesce(length(blob_versioned_hashes), 0) FROM transactions WHERE id = ?`,
    )
    .pluck()

  const check = (sizeBytes: number) => {
    if (sizeBytes > maxBytes) throw new LongBody(sizeBytes)
  }
  const transactionsBytes = (block: StoredBlock) => DIGITS * block.sizeBytes + TRANSACTION_BYTES * block.txCount
  const mostReceiptsBytes = ({ header, txCount, logCount }: StoredBlock) =>
    RECEIPT_BYTES * txCount + LOG_BYTES * logCount + DIGITS * (Number(header.gasUsed) / GAS_PER_LOG_BYTE)
  const logsBytes = (from: number, to: number) => LOG_BYTES * (to - from) + DIGITS * selectDataBytes.get(from, to)!
  return {
    ...chain,
    transactionHashes(block) {
      check(HASH_BYTES * block.txCount)
      return chain.transactionHashes(block)
    },
    transactions(block) {
      check(transactionsBytes(block))
      return chain.transactions(block)
    },
    transaction(block, index) {
      if (transactionsBytes(block) > maxBytes) {
        check(TRANSACTION_BYTES + DIGITS * (selectTransactionBytes.get(block.firstTx + index) ?? 0))
      }
      return chain.transaction(block, index)
    },
    receipts(block) {
      if (mostReceiptsBytes(block) > maxBytes) {
        const counted = RECEIPT_BYTES * block.txCount + LOG_BYTES * block.logCount
        check(counted)
        check(counted + DIGITS * selectDataBytes.get(block.firstLog, block.firstLog + block.logCount)!)
      }
      return chain.receipts(block)
    },
    receipt(block, index) {
      if (mostReceiptsBytes(block) > maxBytes) {
        const logs = selectLogs.get(block.firstTx + index)
        if (logs !== undefined) check(RECEIPT_BYTES + logsBytes(logs.from, logs.to))
      }
      return chain.receipt(block, index)
    },
    transactionFees(block) {
      check(FEE_BYTES * block.txCount)
      return chain.transactionFees(block)
    },
  }
}
