import type { L2ChainIdWitness } from './chainIdWitness.js'
import type { Felt } from './felt.js'

/** Block status of the upstream. The last three never become canonical (Starknet feeder gateway). */
export const L2_UPSTREAM_STATUSES = [
  'PENDING',
  'PRE_CONFIRMED',
  'ACCEPTED_ON_L2',
  'ACCEPTED_ON_L1',
  'REJECTED',
  'REVERTED',
  'ABORTED',
] as const
export type L2UpstreamStatus = (typeof L2_UPSTREAM_STATUSES)[number]

/** Block status in responses (API specification). */
export type L2Status = 'PENDING' | 'ACCEPTED_ON_L2' | 'ACCEPTED_ON_L1' | 'REJECTED'

export type L2DataMode = 'CALLDATA' | 'BLOB'

/** Gas prices in wei (ether) and fri (STRK), up to 128 bits. Undefined: the upstream named none, which matters to the
 *  block hash; it is served as zero. */
export interface L2Prices {
  l1Wei?: bigint
  l1Fri?: bigint
  l1DataWei?: bigint
  l1DataFri?: bigint
  l2Wei?: bigint
  l2Fri?: bigint
}

/** Roots over the block's parts, as the upstream named them. */
export interface L2Commitments {
  transactionCommitment?: Felt
  eventCommitment?: Felt
  receiptCommitment?: Felt
  stateDiffCommitment?: Felt
}

/** Counts, as the upstream named them. `stateDiffLength` counts single changes (storage, nonces, classes, contracts). */
export interface L2Counts {
  transactionCount?: number
  eventCount?: number
  stateDiffLength?: number
}

/** A transaction as far as a block hash covers it. */
export interface L2Transaction {
  hash: Felt
  kind: 'INVOKE' | 'DECLARE' | 'DEPLOY' | 'DEPLOY_ACCOUNT' | 'L1_HANDLER'
  /** Empty for the kinds that are not signed: DEPLOY and L1_HANDLER. */
  signature: Felt[]
}

export interface L2Event {
  fromAddress: Felt
  keys: Felt[]
  data: Felt[]
}

/** A message to layer 1. */
export interface L2Message {
  fromAddress: Felt
  toAddress: Felt
  payload: Felt[]
}

/** A receipt as far as a block hash covers it. */
export interface L2Receipt {
  transactionHash: Felt
  /** Undefined where the recording has no list of them: the gateway's first shape. */
  events?: L2Event[]
  messages: L2Message[]
  actualFee?: bigint
  /** Undefined for a transaction that succeeded. */
  revertReason?: string
  /** Undefined where the recording has no totals (before 0.13.2). */
  gasConsumed?: { l1Gas: bigint; l1DataGas: bigint; l2Gas: bigint }
}

/** What a block changed in the state. */
export interface L2StateDiff {
  storage: { address: Felt; entries: { key: Felt; value: Felt }[] }[]
  nonces: { address: Felt; nonce: Felt }[]
  deployedContracts: { address: Felt; classHash: Felt }[]
  replacedClasses: { address: Felt; classHash: Felt }[]
  declaredClasses: { classHash: Felt; compiledClassHash: Felt }[]
  migratedClasses: { classHash: Felt; compiledClassHash: Felt }[]
  declaredLegacyClasses: Felt[]
}

/** A layer-2 block in one normalised form. Plain data that can be sent to a thread. */
export interface L2Block {
  status: L2UpstreamStatus
  /** Absent from pending blocks of the feeder gateway. */
  number?: number
  /** Absent from pending and pre-confirmed blocks, as `newRoot` is. */
  hash?: Felt
  /** Absent from pre-confirmed blocks. */
  parentHash?: Felt
  newRoot?: Felt
  timestamp: number // Unix seconds
  /** Absent before 0.8.2. */
  sequencer?: Felt
  /** Empty: from before versions were named (0.9.1). Undefined: the recording does not tell (RPC before 0.5). */
  version?: string
  prices: L2Prices
  daMode?: L2DataMode
  commitments: L2Commitments
  counts: L2Counts
  transactionHashes: Felt[]
  /** Where the recording has more than their hashes. */
  transactions?: L2Transaction[]
  receipts?: L2Receipt[]
  stateDiff?: L2StateDiff
  /** A transaction that tells the network, where the recording has one. */
  chainIdWitness?: L2ChainIdWitness
}

/** True for a block that is not part of a chain yet: it has no hash. */
export function isPendingStatus(status: L2UpstreamStatus): boolean {
  return status === 'PENDING' || status === 'PRE_CONFIRMED'
}

/** True for a block that the upstream abandoned. */
export function isRejectedStatus(status: L2UpstreamStatus): boolean {
  return status === 'REJECTED' || status === 'REVERTED' || status === 'ABORTED'
}
