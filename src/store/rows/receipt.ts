import { MAX_ETHEREUM_TYPE } from '../../chain/eth/families/addedTypes.js'
import type { Receipt, TransactionType } from '../../chain/eth/types.js'
import { decodeOptionalUint, decodeUint, encodeUint, type RowValue, type StoredUint, uintOrNull } from '../columns.js'
import { unpackDeposit } from './deposit.js'

/** Columns of `receipts`, in the order of `receiptValues`. */
export const RECEIPT_COLUMNS = [
  'tx_id',
  'status',
  'root',
  'cumulative_gas_used',
  'gas_used',
  'effective_gas_price',
  'contract_address',
  'blob_gas_used',
  'blob_gas_price',
  'first_log',
  'n_logs',
] as const

/** The receipt row of transaction `txId`; `firstLog` is the id of its first log. */
export function receiptValues(txId: number, receipt: Receipt, firstLog: number): RowValue[] {
  return [
    txId,
    receipt.status ?? null,
    receipt.root ?? null,
    encodeUint(receipt.cumulativeGasUsed),
    encodeUint(receipt.gasUsed),
    encodeUint(receipt.effectiveGasPrice),
    receipt.contractAddress ?? null,
    uintOrNull(receipt.blobGasUsed),
    uintOrNull(receipt.blobGasPrice),
    firstLog,
    receipt.logs.length,
  ]
}

/** A row of `receipts` with the type of its transaction, and of a deposit its nonce and parts. */
export interface ReceiptRow {
  type: number
  nonce: StoredUint | null
  deposit: Uint8Array | null
  status: number | null
  root: Uint8Array | null
  cumulative_gas_used: StoredUint
  gas_used: StoredUint
  effective_gas_price: StoredUint
  contract_address: Uint8Array | null
  blob_gas_used: StoredUint | null
  blob_gas_price: StoredUint | null
  first_log: number
  n_logs: number
}

/** Reads a column of transactions for deposits alone: `deposit` is after the input, which may be long. */
function ofDeposits(column: string): string {
  return `CASE WHEN t.type > ${MAX_ETHEREUM_TYPE} THEN t.${column} END AS ${column}`
}

/** Selects the receipts with ids of transactions in [?, ?) as `ReceiptRow`, ascending. */
export const SELECT_RECEIPTS = `SELECT t.type, ${ofDeposits('nonce')}, ${ofDeposits('deposit')}, ${RECEIPT_COLUMNS.slice(
  1,
)
  .map((column) => `r.${column}`)
  .join(
    ', ',
  )} FROM receipts r JOIN transactions t ON t.id = r.tx_id WHERE r.tx_id >= ? AND r.tx_id < ? ORDER BY r.tx_id`

/** Decodes a receipt row. `logs` is empty and `logsBloom` all zero; the caller fills them. */
export function decodeReceiptRow(row: ReceiptRow): Receipt {
  return {
    type: row.type as TransactionType,
    status: row.status === null ? undefined : row.status === 1 ? 1 : 0,
    root: row.root ?? undefined,
    cumulativeGasUsed: decodeUint(row.cumulative_gas_used),
    gasUsed: decodeUint(row.gas_used),
    effectiveGasPrice: decodeUint(row.effective_gas_price),
    contractAddress: row.contract_address ?? undefined,
    blobGasUsed: decodeOptionalUint(row.blob_gas_used),
    blobGasPrice: decodeOptionalUint(row.blob_gas_price),
    depositNonce: row.deposit === null ? undefined : depositNonceOf(row.deposit, row.nonce!),
    logsBloom: new Uint8Array(256),
    logs: [],
  }
}

/** The nonce of a deposit is that of its receipt, if the receipt has one. */
function depositNonceOf(deposit: Uint8Array, nonce: StoredUint): bigint | undefined {
  return unpackDeposit(deposit).receiptVersion === undefined ? undefined : decodeUint(nonce)
}
