import { encodeShortString, type Felt } from './felt.js'
import { hashChains, hashPoseidon } from './hash.js'
import type { PairHasher } from './pedersen.js'
import type { L2Block, L2Commitments, L2Counts, L2Prices } from './types.js'
import type { L2HashRules } from './version.js'

/** Commitments and counts that a block hash covers. */
export type L2HashInputs = L2Commitments & L2Counts

/** Hashing rules. With `chainId`, the hash is computed as before Starknet 0.7: it covers the chain id, but neither
 *  timestamp nor sequencer. */
export interface L2HashOptions {
  rules: L2HashRules
  pedersenPairs: PairHasher
  chainId?: string
}

/** The hash of a block from its header and commitments (Starknet documentation, "Block hash"). Missing values count as
 *  zero. */
export function computeBlockHash(block: L2Block, inputs: L2HashInputs, options: L2HashOptions): Felt {
  const { rules, pedersenPairs, chainId } = options
  if (rules === 'poseidon-0' || rules === 'poseidon-1') return hashHeaderPoseidon(block, inputs, rules)
  const values = chainId === undefined ? listHeader(block, inputs) : listHeaderBefore07(block, inputs, chainId)
  return hashChains([values], pedersenPairs)[0]
}

function listHeaderBefore07(block: L2Block, inputs: L2HashInputs, chainId: string): Felt[] {
  return [
    BigInt(block.number ?? 0),
    block.newRoot ?? 0n,
    0n, // sequencer
    0n, // timestamp
    BigInt(inputs.transactionCount ?? 0),
    inputs.transactionCommitment ?? 0n,
    0n, // event count
    0n, // event commitment
    0n, // protocol version
    0n, // extra data
    encodeShortString(chainId),
    block.parentHash ?? 0n,
  ]
}

function listHeader(block: L2Block, inputs: L2HashInputs): Felt[] {
  return [
    BigInt(block.number ?? 0),
    block.newRoot ?? 0n,
    block.sequencer ?? 0n,
    BigInt(block.timestamp),
    BigInt(inputs.transactionCount ?? 0),
    inputs.transactionCommitment ?? 0n,
    BigInt(inputs.eventCount ?? 0),
    inputs.eventCommitment ?? 0n,
    0n, // protocol version
    0n, // extra data
    block.parentHash ?? 0n,
  ]
}

function hashHeaderPoseidon(block: L2Block, inputs: L2HashInputs, rules: 'poseidon-0' | 'poseidon-1'): Felt {
  const isFirst = rules === 'poseidon-0'
  return hashPoseidon([
    encodeShortString(isFirst ? 'STARKNET_BLOCK_HASH0' : 'STARKNET_BLOCK_HASH1'),
    BigInt(block.number ?? 0),
    block.newRoot ?? 0n,
    block.sequencer ?? 0n,
    BigInt(block.timestamp),
    packCounts(inputs, block.daMode === 'BLOB'),
    inputs.stateDiffCommitment ?? 0n,
    inputs.transactionCommitment ?? 0n,
    inputs.eventCommitment ?? 0n,
    inputs.receiptCommitment ?? 0n,
    ...(isFirst ? listPrices(block.prices).slice(0, 4) : [hashPrices(block.prices)]),
    encodeShortString(block.version ?? ''),
    0n, // extra data
    block.parentHash ?? 0n,
  ])
}

/** The concatenated counts: three of 64 bits, the L1 data availability bit (1: blob), 63 zero bits. */
function packCounts(inputs: L2HashInputs, isBlob: boolean): Felt {
  const { transactionCount = 0, eventCount = 0, stateDiffLength = 0 } = inputs
  const counts = (BigInt(transactionCount) << 128n) | (BigInt(eventCount) << 64n) | BigInt(stateDiffLength)
  return ((counts << 1n) | (isBlob ? 1n : 0n)) << 63n
}

function hashPrices(prices: L2Prices): Felt {
  return hashPoseidon([encodeShortString('STARKNET_GAS_PRICES0'), ...listPrices(prices)])
}

function listPrices(prices: L2Prices): Felt[] {
  const { l1Wei = 0n, l1Fri = 0n, l1DataWei = 0n, l1DataFri = 0n, l2Wei = 0n, l2Fri = 0n } = prices
  return [l1Wei, l1Fri, l1DataWei, l1DataFri, l2Wei, l2Fri]
}
