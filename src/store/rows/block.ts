import { decodeWithdrawals } from '../../chain/eth/block.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { encodeWithdrawals } from '../../chain/eth/withdrawals.js'
import { leadingZeros } from '../../lib/bytes.js'
import { decodeOptionalUint, decodeUint, encodeUint, type RowValue, type StoredUint, uintOrNull } from '../columns.js'
import type { StoredBlock } from './types.js'

/** Columns of `blocks`: those of `blockValues` in their order, then the ranges of the block's parts. */
export const BLOCK_COLUMNS = [
  'number',
  'hash',
  'parent_hash',
  'uncles_hash',
  'miner',
  'state_root',
  'transactions_root',
  'receipts_root',
  'logs_bloom',
  'difficulty',
  'total_difficulty',
  'gas_limit',
  'gas_used',
  'timestamp',
  'extra_data',
  'mix_hash',
  'nonce',
  'base_fee_per_gas',
  'withdrawals_root',
  'blob_gas_used',
  'excess_blob_gas',
  'parent_beacon_block_root',
  'requests_hash',
  'block_access_list_hash',
  'slot_number',
  'size',
  'withdrawals',
  'first_tx',
  'n_tx',
  'first_log',
  'n_logs',
] as const

/** The values of a block row up to its withdrawals, in the order of `BLOCK_COLUMNS`. */
export function blockValues({ hash, header, sizeBytes, withdrawals }: Block, totalDifficulty: bigint): RowValue[] {
  return [
    header.number,
    hash,
    header.parentHash,
    header.unclesHash,
    header.miner,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    leadingZeros(header.logsBloom) < header.logsBloom.length ? header.logsBloom : null,
    encodeUint(header.difficulty),
    encodeUint(totalDifficulty),
    encodeUint(header.gasLimit),
    encodeUint(header.gasUsed),
    encodeUint(header.timestamp),
    header.extraData,
    header.mixHash,
    header.nonce,
    uintOrNull(header.baseFeePerGas),
    header.withdrawalsRoot ?? null,
    uintOrNull(header.blobGasUsed),
    uintOrNull(header.excessBlobGas),
    header.parentBeaconBlockRoot ?? null,
    header.requestsHash ?? null,
    header.blockAccessListHash ?? null,
    uintOrNull(header.slotNumber),
    sizeBytes,
    withdrawals === undefined ? null : encodeWithdrawals(withdrawals),
  ]
}

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
    baseFeePerGas: decodeOptionalUint(row.base_fee_per_gas),
    withdrawalsRoot: row.withdrawals_root ?? undefined,
    blobGasUsed: decodeOptionalUint(row.blob_gas_used),
    excessBlobGas: decodeOptionalUint(row.excess_blob_gas),
    parentBeaconBlockRoot: row.parent_beacon_block_root ?? undefined,
    requestsHash: row.requests_hash ?? undefined,
    blockAccessListHash: row.block_access_list_hash ?? undefined,
    slotNumber: decodeOptionalUint(row.slot_number),
  }
}
