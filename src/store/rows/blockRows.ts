import { decodeWithdrawals } from '../../chain/eth/block.js'
import { decodeAccessList, decodeAuthorizationList } from '../../chain/eth/transaction.js'
import type { Header, Receipt, Transaction, TransactionType } from '../../chain/eth/types.js'
import { bytesToBigInt, padLeft } from '../../lib/bytes.js'
import { decodeUint, type StoredUint } from '../columns.js'
import type { StoredBlock } from './types.js'

/** A row of `blocks` as SQLite returns it. */
export interface BlockRow {
  number: number
  hash: Uint8Array
  parent_hash: Uint8Array
  uncles_hash: Uint8Array
  miner: Uint8Array
  state_root: Uint8Array
  transactions_root: Uint8Array
  receipts_root: Uint8Array
  logs_bloom: Uint8Array | null
  difficulty: StoredUint
  total_difficulty: StoredUint
  gas_limit: StoredUint
  gas_used: StoredUint
  timestamp: StoredUint
  extra_data: Uint8Array
  mix_hash: Uint8Array
  nonce: Uint8Array
  base_fee_per_gas: StoredUint | null
  withdrawals_root: Uint8Array | null
  blob_gas_used: StoredUint | null
  excess_blob_gas: StoredUint | null
  parent_beacon_block_root: Uint8Array | null
  requests_hash: Uint8Array | null
  size: number
  withdrawals: Uint8Array | null
  first_tx: number
  n_tx: number
  first_log: number
  n_logs: number
  block_access_list_hash: Uint8Array | null
  slot_number: StoredUint | null
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
}

/** A row of `receipts` with the type of its transaction. */
export interface ReceiptRow {
  type: number
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

const optionalUint = (value: StoredUint | null) => (value === null ? undefined : decodeUint(value))

/** Decodes a block row. */
export function decodeBlockRow(row: BlockRow): StoredBlock {
  return {
    hash: row.hash,
    header: decodeHeaderColumns(row),
    totalDifficulty: decodeUint(row.total_difficulty),
    sizeBytes: row.size,
    withdrawals: row.withdrawals === null ? undefined : decodeWithdrawals(row.withdrawals),
    firstTx: row.first_tx,
    txCount: row.n_tx,
    firstLog: row.first_log,
    logCount: row.n_logs,
  }
}

function decodeHeaderColumns(row: BlockRow): Header {
  return {
    parentHash: row.parent_hash,
    unclesHash: row.uncles_hash,
    miner: row.miner,
    stateRoot: row.state_root,
    transactionsRoot: row.transactions_root,
    receiptsRoot: row.receipts_root,
    logsBloom: row.logs_bloom ?? new Uint8Array(256),
    difficulty: decodeUint(row.difficulty),
    number: row.number,
    gasLimit: decodeUint(row.gas_limit),
    gasUsed: decodeUint(row.gas_used),
    timestamp: decodeUint(row.timestamp),
    extraData: row.extra_data,
    mixHash: row.mix_hash,
    nonce: row.nonce,
    baseFeePerGas: optionalUint(row.base_fee_per_gas),
    withdrawalsRoot: row.withdrawals_root ?? undefined,
    blobGasUsed: optionalUint(row.blob_gas_used),
    excessBlobGas: optionalUint(row.excess_blob_gas),
    parentBeaconBlockRoot: row.parent_beacon_block_root ?? undefined,
    requestsHash: row.requests_hash ?? undefined,
    blockAccessListHash: row.block_access_list_hash ?? undefined,
    slotNumber: optionalUint(row.slot_number),
  }
}

/** Decodes a transaction row. */
export function decodeTransactionRow(row: TransactionRow): Transaction {
  return {
    type: row.type as TransactionType,
    hash: row.hash,
    from: row.sender,
    chainId: optionalUint(row.chain_id),
    nonce: decodeUint(row.nonce),
    gasLimit: decodeUint(row.gas_limit),
    gasPrice: optionalUint(row.gas_price),
    maxPriorityFeePerGas: optionalUint(row.max_priority_fee_per_gas),
    maxFeePerGas: optionalUint(row.max_fee_per_gas),
    to: row.recipient ?? undefined,
    value: decodeUint(row.value),
    input: row.input,
    accessList: row.access_list === null ? undefined : decodeAccessList(row.access_list),
    maxFeePerBlobGas: optionalUint(row.max_fee_per_blob_gas),
    blobVersionedHashes: row.blob_versioned_hashes === null ? undefined : splitHashes(row.blob_versioned_hashes),
    authorizationList: row.authorization_list === null ? undefined : decodeAuthorizationList(row.authorization_list),
    v: decodeUint(row.v),
    r: bytesToBigInt(row.r),
    s: bytesToBigInt(row.s),
  }
}

function splitHashes(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(i * 32, i * 32 + 32))
}

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
    blobGasUsed: optionalUint(row.blob_gas_used),
    blobGasPrice: optionalUint(row.blob_gas_price),
    logsBloom: new Uint8Array(256),
    logs: [],
  }
}

/** Topics of a log row: topic 0 from the dictionary, the others padded to 32 bytes. */
export function decodeTopics(
  topic0: Uint8Array | null,
  topic1: Uint8Array | null,
  topic2: Uint8Array | null,
  topic3: Uint8Array | null,
): Uint8Array[] {
  const topics: Uint8Array[] = []
  if (topic0 !== null) topics.push(topic0)
  if (topic1 !== null) topics.push(padLeft(topic1, 32))
  if (topic2 !== null) topics.push(padLeft(topic2, 32))
  if (topic3 !== null) topics.push(padLeft(topic3, 32))
  return topics
}

/** Data of a log row, padded to its full length. */
export function decodeLogData(data: Uint8Array, dataLength: number | null): Uint8Array {
  return padLeft(data, dataLength ?? 32)
}
