import { decodeFelt, encodeFelt, type Felt, formatFelt, parseFelt } from '../../chain/starknet/felt.js'
import type { L2Block, L2Commitments, L2Counts, L2DataMode, L2Prices } from '../../chain/starknet/types.js'
import { decodeUint, encodeUint, type StoredUint } from '../columns.js'

/** A row of `l2_blocks` as SQLite returns it, without `raw`. */
export interface L2BlockRow {
  hash: Uint8Array
  number: number
  parent_hash: Uint8Array
  new_root: Uint8Array
  timestamp: number
  sequencer: Uint8Array | null
  version: string | null
  l1_wei: StoredUint | null
  l1_fri: StoredUint | null
  l1_data_wei: StoredUint | null
  l1_data_fri: StoredUint | null
  l2_wei: StoredUint | null
  l2_fri: StoredUint | null
  da_mode: number | null
  transaction_commitment: Uint8Array | null
  event_commitment: Uint8Array | null
  receipt_commitment: Uint8Array | null
  state_diff_commitment: Uint8Array | null
  tx_count: number
  event_count: number | null
  state_diff_length: number | null
  canonical: number
  verified: number | null
}

/** The columns of `L2BlockRow`, for SELECT. */
export const L2_BLOCK_COLUMNS = `hash, number, parent_hash, new_root, timestamp, sequencer, version, l1_wei, l1_fri,
  l1_data_wei, l1_data_fri, l2_wei, l2_fri, da_mode, transaction_commitment, event_commitment, receipt_commitment,
  state_diff_commitment, tx_count, event_count, state_diff_length, canonical, verified`

/** The members of a block that are stored in its row. */
export interface L2Header extends L2Commitments, L2Counts {
  number: number
  hash: Felt
  parentHash: Felt
  newRoot: Felt
  timestamp: number // Unix seconds
  sequencer?: Felt
  version?: string
  prices: L2Prices
  daMode?: L2DataMode
  transactionCount: number
}

const DATA_MODES: readonly L2DataMode[] = ['CALLDATA', 'BLOB']

/** Decodes the header of a row. */
export function decodeL2BlockRow(row: L2BlockRow): L2Header {
  return {
    number: row.number,
    hash: decodeFelt(row.hash),
    parentHash: decodeFelt(row.parent_hash),
    newRoot: decodeFelt(row.new_root),
    timestamp: row.timestamp,
    sequencer: feltOf(row.sequencer),
    version: row.version ?? undefined,
    prices: {
      l1Wei: uintOf(row.l1_wei),
      l1Fri: uintOf(row.l1_fri),
      l1DataWei: uintOf(row.l1_data_wei),
      l1DataFri: uintOf(row.l1_data_fri),
      l2Wei: uintOf(row.l2_wei),
      l2Fri: uintOf(row.l2_fri),
    },
    daMode: row.da_mode === null ? undefined : DATA_MODES[row.da_mode],
    transactionCommitment: feltOf(row.transaction_commitment),
    eventCommitment: feltOf(row.event_commitment),
    receiptCommitment: feltOf(row.receipt_commitment),
    stateDiffCommitment: feltOf(row.state_diff_commitment),
    transactionCount: row.tx_count,
    eventCount: row.event_count ?? undefined,
    stateDiffLength: row.state_diff_length ?? undefined,
  }
}

/** The values of `L2_BLOCK_COLUMNS` up to `state_diff_length`, in order. */
export function encodeL2Header(header: L2Header): unknown[] {
  const { prices, daMode } = header
  return [
    encodeFelt(header.hash),
    header.number,
    encodeFelt(header.parentHash),
    encodeFelt(header.newRoot),
    header.timestamp,
    blobOf(header.sequencer),
    header.version || null,
    storedOf(prices.l1Wei),
    storedOf(prices.l1Fri),
    storedOf(prices.l1DataWei),
    storedOf(prices.l1DataFri),
    storedOf(prices.l2Wei),
    storedOf(prices.l2Fri),
    daMode === undefined ? null : DATA_MODES.indexOf(daMode),
    blobOf(header.transactionCommitment),
    blobOf(header.eventCommitment),
    blobOf(header.receiptCommitment),
    blobOf(header.stateDiffCommitment),
    header.transactionCount,
    header.eventCount ?? null,
    header.stateDiffLength ?? null,
  ]
}

const feltOf = (value: Uint8Array | null) => (value === null ? undefined : decodeFelt(value))
const blobOf = (value: Felt | undefined) => (value === undefined ? null : encodeFelt(value))
const uintOf = (value: StoredUint | null) => (value === null ? undefined : decodeUint(value))
const storedOf = (value: bigint | undefined) => (value === undefined ? null : encodeUint(value))

/** The stored parts of a pending block besides number and parent. */
export interface L2PendingBody {
  timestamp: number // Unix seconds
  sequencer?: Felt
  version?: string
  prices: L2Prices
  daMode?: L2DataMode
  transactionHashes: Felt[]
}

/** The body as JSON; integers as hex. */
export function encodePendingBody(block: L2Block): string {
  const { timestamp, sequencer, version, prices, daMode, transactionHashes } = block
  const body = { timestamp, sequencer, version, prices, daMode, transactionHashes }
  return JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? formatFelt(value) : value))
}

/** Decodes the JSON written by `encodePendingBody`. */
export function decodePendingBody(json: string): L2PendingBody {
  const body = JSON.parse(json, (key, value: unknown) =>
    typeof value === 'string' && key !== 'version' ? (parseFelt(value) ?? value) : value,
  )
  return body as L2PendingBody
}
