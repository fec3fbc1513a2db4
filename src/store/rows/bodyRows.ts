import { encodeAccessList, encodeAuthorizationList } from '../../chain/eth/transaction.js'
import type { Receipt, Transaction } from '../../chain/eth/types.js'
import { bigIntToBytes, concatBytes } from '../../lib/bytes.js'
import { encodeUint } from '../columns.js'

/** A value for binding: a bigint becomes an SQL integer. */
export type RowValue = null | number | bigint | string | Uint8Array

/** Columns of `transactions`, in the order of `transactionValues`. */
export const TRANSACTION_COLUMNS = [
  'id',
  'hash',
  'block_number',
  'type',
  'sender',
  'recipient',
  'chain_id',
  'nonce',
  'gas_limit',
  'gas_price',
  'max_priority_fee_per_gas',
  'max_fee_per_gas',
  'value',
  'input',
  'access_list',
  'max_fee_per_blob_gas',
  'blob_versioned_hashes',
  'authorization_list',
  'v',
  'r',
  's',
] as const

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

/** An integer column's value, null for undefined. */
export const uintOrNull = (value: bigint | undefined) => (value === undefined ? null : encodeUint(value))

/** The row of a transaction. */
export function transactionValues(id: number, blockNumber: number, t: Transaction): RowValue[] {
  return [
    id,
    t.hash,
    blockNumber,
    t.type,
    t.from,
    t.to ?? null,
    uintOrNull(t.chainId),
    encodeUint(t.nonce),
    encodeUint(t.gasLimit),
    uintOrNull(t.gasPrice),
    uintOrNull(t.maxPriorityFeePerGas),
    uintOrNull(t.maxFeePerGas),
    encodeUint(t.value),
    t.input,
    t.accessList === undefined ? null : encodeAccessList(t.accessList),
    uintOrNull(t.maxFeePerBlobGas),
    t.blobVersionedHashes === undefined ? null : concatBytes(...t.blobVersionedHashes),
    t.authorizationList === undefined ? null : encodeAuthorizationList(t.authorizationList),
    encodeUint(t.v),
    bigIntToBytes(t.r),
    bigIntToBytes(t.s),
  ]
}

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
