import type { L2ChainIdWitness } from './chainIdWitness.js'
import type { Felt } from './felt.js'

/** Upstream block status (Starknet feeder gateway). Blocks with one of the last three never become canonical. */
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

/** Gas prices in wei (ether) and fri (STRK), up to 128 bits. Undefined: absent upstream, which prevents verification of
 *  hashes that cover it; served as zero. */
export interface L2Prices {
  l1Wei?: bigint
  l1Fri?: bigint
  l1DataWei?: bigint
  l1DataFri?: bigint
  l2Wei?: bigint
  l2Fri?: bigint
}

/** Commitments of the block header, as sent by the upstream. */
export interface L2Commitments {
  transactionCommitment?: Felt
  eventCommitment?: Felt
  receiptCommitment?: Felt
  stateDiffCommitment?: Felt
}

/** Counts of the block header, as sent by the upstream. `stateDiffLength` counts single changes (storage, nonces,
 *  classes, contracts). */
export interface L2Counts {
  transactionCount?: number
  eventCount?: number
  stateDiffLength?: number
}

/** The parts of a transaction that a block hash covers. */
export interface L2Transaction {
  hash: Felt
  kind: 'INVOKE' | 'DECLARE' | 'DEPLOY' | 'DEPLOY_ACCOUNT' | 'L1_HANDLER'
  /** Empty for DEPLOY and L1_HANDLER, which are not signed. */
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

/** The parts of a receipt that a block hash covers. */
export interface L2Receipt {
  transactionHash: Felt
  /** Undefined when the recording has no event list, as in the first format of the gateway. */
  events?: L2Event[]
  messages: L2Message[]
  actualFee?: bigint
  /** Undefined when the transaction succeeded. */
  revertReason?: string
  /** Undefined when the recording has no gas totals (before 0.13.2). */
  gasConsumed?: { l1Gas: bigint; l1DataGas: bigint; l2Gas: bigint }
}

/** The state changes of a block. */
export interface L2StateDiff {
  storage: { address: Felt; entries: { key: Felt; value: Felt }[] }[]
  nonces: { address: Felt; nonce: Felt }[]
  deployedContracts: { address: Felt; classHash: Felt }[]
  replacedClasses: { address: Felt; classHash: Felt }[]
  declaredClasses: { classHash: Felt; compiledClassHash: Felt }[]
  migratedClasses: { classHash: Felt; compiledClassHash: Felt }[]
  declaredLegacyClasses: Felt[]
}

/** A layer-2 block, independent of the recorded format. Plain data that can be sent to a thread. */
export interface L2Block {
  status: L2UpstreamStatus
  /** Undefined for pending blocks of the feeder gateway. */
  number?: number
  /** Undefined for pending and pre-confirmed blocks, like `newRoot`. */
  hash?: Felt
  /** Undefined for pre-confirmed blocks. */
  parentHash?: Felt
  newRoot?: Felt
  timestamp: number // Unix seconds
  /** Undefined before 0.8.2. */
  sequencer?: Felt
  /** Starknet version. Empty: the block is older than version numbers (0.9.1). Undefined: not in the recording (RPC
   *  before 0.5). */
  version?: string
  prices: L2Prices
  daMode?: L2DataMode
  commitments: L2Commitments
  counts: L2Counts
  transactionHashes: Felt[]
  /** Undefined when the recording lacks them or their signatures. */
  transactions?: L2Transaction[]
  receipts?: L2Receipt[]
  stateDiff?: L2StateDiff
  /** A transaction that proves the chain id, when the recording has one. */
  chainIdWitness?: L2ChainIdWitness
}

/** True for an unconfirmed block, which has no hash. */
export function isPendingStatus(status: L2UpstreamStatus): boolean {
  return status === 'PENDING' || status === 'PRE_CONFIRMED'
}

/** True for a block that the upstream abandoned. */
export function isRejectedStatus(status: L2UpstreamStatus): boolean {
  return status === 'REJECTED' || status === 'REVERTED' || status === 'ABORTED'
}
