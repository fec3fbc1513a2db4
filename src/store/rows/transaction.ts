import type { Statement } from 'better-sqlite3'
import {
  decodeAccessList,
  decodeAuthorizationList,
  encodeAccessList,
  encodeAuthorizationList,
} from '../../chain/eth/transaction.js'
import type { Transaction, TransactionType } from '../../chain/eth/types.js'
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../lib/bytes.js'
import { decodeOptionalUint, decodeUint, encodeUint, type RowValue, type StoredUint, uintOrNull } from '../columns.js'
import type { Database } from '../database.js'
import { packDeposit, unpackDeposit } from './deposit.js'

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
  'deposit',
] as const

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
    t.deposit === undefined ? null : packDeposit(t.deposit),
  ]
}

/** A row of `transactions`. */
export interface TransactionRow {
  id: number
  hash: Uint8Array
  block_number: number
  type: number
  sender: Uint8Array
  recipient: Uint8Array | null
  chain_id: StoredUint | null
  nonce: StoredUint
  gas_limit: StoredUint
  gas_price: StoredUint | null
  max_priority_fee_per_gas: StoredUint | null
  max_fee_per_gas: StoredUint | null
  value: StoredUint
  input: Uint8Array
  access_list: Uint8Array | null
  max_fee_per_blob_gas: StoredUint | null
  blob_versioned_hashes: Uint8Array | null
  authorization_list: Uint8Array | null
  v: StoredUint
  r: Uint8Array
  s: Uint8Array
  deposit: Uint8Array | null
}

/** Decodes a transaction row. */
export function decodeTransactionRow(row: TransactionRow): Transaction {
  return {
    type: row.type as TransactionType,
    hash: row.hash,
    from: row.sender,
    chainId: decodeOptionalUint(row.chain_id),
    nonce: decodeUint(row.nonce),
    gasLimit: decodeUint(row.gas_limit),
    gasPrice: decodeOptionalUint(row.gas_price),
    maxPriorityFeePerGas: decodeOptionalUint(row.max_priority_fee_per_gas),
    maxFeePerGas: decodeOptionalUint(row.max_fee_per_gas),
    to: row.recipient ?? undefined,
    value: decodeUint(row.value),
    input: row.input,
    accessList: row.access_list === null ? undefined : decodeAccessList(row.access_list),
    maxFeePerBlobGas: decodeOptionalUint(row.max_fee_per_blob_gas),
    blobVersionedHashes: row.blob_versioned_hashes === null ? undefined : splitHashes(row.blob_versioned_hashes),
    authorizationList: row.authorization_list === null ? undefined : decodeAuthorizationList(row.authorization_list),
    v: decodeUint(row.v),
    r: bytesToBigInt(row.r),
    s: bytesToBigInt(row.s),
    deposit: row.deposit === null ? undefined : unpackDeposit(row.deposit),
  }
}

function splitHashes(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(i * 32, i * 32 + 32))
}

/** Prepares a statement for the hashes of the transactions with ids in [?, ?), ascending. */
export function prepareTransactionHashes(db: Database): Statement<[number, number], Uint8Array> {
  return db
    .prepare<[number, number], Uint8Array>('SELECT hash FROM transactions WHERE id >= ? AND id < ? ORDER BY id')
    .pluck()
}
