import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import type { L2Prices } from '../../chain/starknet/types.js'
import type { L2Reader, StoredL2Block, StoredL2Pending } from '../../store/l2/l2Reader.js'
import type { FoundL2Block } from './blockId.js'

/** The layer-2 block object of the API specification. */
export function formatZkBlock(l2: L2Reader, block: StoredL2Block): object {
  return {
    status: block.status,
    block_hash: formatFelt(block.hash),
    parent_hash: formatFelt(block.parentHash),
    block_number: block.number,
    new_root: formatFelt(block.newRoot),
    timestamp: block.timestamp,
    sequencer_address: formatFelt(block.sequencer ?? 0n),
    l1_gas_price: formatPrice(block.prices.l1Fri, block.prices.l1Wei),
    zk_version: block.version ?? '',
    transactions: l2.transactionHashes(block).map(formatFelt),
  }
}

/** The pending block object of the API specification: no hash, number or root. The parent is zero if unknown. */
export function formatZkPending(pending: StoredL2Pending): object {
  return {
    status: 'PENDING',
    parent_hash: formatFelt(pending.parentHash ?? 0n),
    timestamp: pending.timestamp,
    sequencer_address: formatFelt(pending.sequencer ?? 0n),
    l1_gas_price: formatPrice(pending.prices.l1Fri, pending.prices.l1Wei),
    zk_version: pending.version ?? '',
    transactions: pending.transactionHashes.map(formatFelt),
  }
}

/** BLOCK_WITH_TX_HASHES (starknet-specs 0.9), with the commitments and counts of 0.10 if known. */
export function formatStarknetBlock(l2: L2Reader, block: StoredL2Block): object {
  return {
    status: block.status,
    ...formatStarknetHeader(block),
    transactions: l2.transactionHashes(block).map(formatFelt),
  }
}

/** BLOCK_HEADER, with the same members. */
export function formatStarknetHeader(block: StoredL2Block): object {
  return {
    block_hash: formatFelt(block.hash),
    parent_hash: formatFelt(block.parentHash),
    block_number: block.number,
    new_root: formatFelt(block.newRoot),
    ...formatCommon(block),
    transaction_commitment: formatOptional(block.transactionCommitment),
    event_commitment: formatOptional(block.eventCommitment),
    receipt_commitment: formatOptional(block.receiptCommitment),
    state_diff_commitment: formatOptional(block.stateDiffCommitment),
    transaction_count: block.transactionCount,
    event_count: block.eventCount,
    state_diff_length: block.stateDiffLength,
  }
}

/** PRE_CONFIRMED_BLOCK_WITH_TX_HASHES (starknet-specs 0.9). The number is omitted if unknown: a pending block of an
 *  older gateway whose parent is not stored. */
export function formatStarknetPending(pending: StoredL2Pending): object {
  return { ...formatPendingHeader(pending), transactions: pending.transactionHashes.map(formatFelt) }
}

function formatPendingHeader(pending: StoredL2Pending): object {
  return { block_number: pending.number, ...formatCommon(pending) }
}

/** A block with other content than hashes in `transactions`: BLOCK_WITH_TXS, BLOCK_WITH_RECEIPTS or their PRE_CONFIRMED
 *  forms. */
export function formatWithBody(found: FoundL2Block, transactions: readonly object[]): object {
  if ('pending' in found) return { ...formatPendingHeader(found.pending), transactions }
  return { status: found.confirmed.status, ...formatStarknetHeader(found.confirmed), transactions }
}

function formatCommon({ timestamp, sequencer, version, prices, daMode }: StoredL2Block | StoredL2Pending): object {
  return {
    timestamp,
    sequencer_address: formatFelt(sequencer ?? 0n),
    l1_gas_price: formatPrice(prices.l1Fri, prices.l1Wei),
    l1_data_gas_price: formatPrice(prices.l1DataFri, prices.l1DataWei),
    l2_gas_price: formatPrice(prices.l2Fri, prices.l2Wei),
    l1_da_mode: daMode ?? 'CALLDATA',
    starknet_version: version ?? '',
  }
}

function formatPrice(fri: L2Prices['l1Fri'], wei: L2Prices['l1Wei']): { price_in_fri: string; price_in_wei: string } {
  return { price_in_fri: formatFelt(fri ?? 0n), price_in_wei: formatFelt(wei ?? 0n) }
}

// JSON omits undefined members.
function formatOptional(felt: Felt | undefined): string | undefined {
  return felt === undefined ? undefined : formatFelt(felt)
}
