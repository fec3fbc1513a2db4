import { encodeTransaction } from '../../../../src/chain/eth/transaction.js'
import type { Block } from '../../../../src/chain/eth/types.js'
import { formatData } from '../../../../src/lib/hex.js'
import { branchOf, byteListRoot, bytesRoot, containerRoot, listRoot, merkleize, numberLeaf } from './ssz.js'
import { createSyncCommittee, type SyncCommittee, signingDomain } from './syncCommittee.js'

/* A beacon chain of Electra, as far as a light client sees it: blocks with execution payloads, sync committees that
 * sign them, and states whose other members than the committees and the finalized checkpoint are zero (consensus-specs,
 * electra). */

const SLOTS_PER_EPOCH = 32
/** Slots of a period of sync committees. */
export const SLOTS_PER_PERIOD = 8192
/** `ELECTRA_FORK_VERSION` of the chain. */
export const ELECTRA_VERSION = Uint8Array.of(5, 0, 0, 0x35)
/** Root of the genesis validators of the chain, 32 bytes. */
export const VALIDATORS_ROOT = new Uint8Array(32).fill(0x35)
const DOMAIN = signingDomain(ELECTRA_VERSION, VALIDATORS_ROOT)

// Members of the state and of the body, and the depths of their trees.
const STATE_DEPTH = 6
const STATE = { slot: 2, finalizedCheckpoint: 20, currentCommittee: 22, nextCommittee: 23 }
const BODY_DEPTH = 4
const EXECUTION_PAYLOAD = 9

type Json = { readonly [name: string]: unknown }

/** A beacon block with what is proved of it. */
export interface BeaconBlock {
  readonly slot: number
  /** 32 bytes. */
  readonly root: Uint8Array
  /** As in the beacon API. */
  readonly header: Json
  readonly body: Json
  readonly payload: Block
  readonly finalized: BeaconBlock | undefined
  readonly stateLeaves: readonly Uint8Array[]
  /** With the proof of the payload's header. */
  readonly lightHeader: Json
}

/** The committee of a period. */
export function createCommittees(): (slot: number) => SyncCommittee {
  const committees = new Map<number, SyncCommittee>()
  return (slot) => {
    const period = Math.floor(slot / SLOTS_PER_PERIOD)
    const known = committees.get(period) ?? createSyncCommittee(BigInt(1_000_003 * (period + 1)))
    committees.set(period, known)
    return known
  }
}

/** Builds a block on `parent` (default: none) whose state has the finalized block. */
export function createBeaconBlock(
  committees: (slot: number) => SyncCommittee,
  { slot, payload, parent, finalized }: { slot: number; payload: Block; parent?: BeaconBlock; finalized?: BeaconBlock },
): BeaconBlock {
  const { json, root: payloadRoot, headerJson } = describePayload(payload)
  const body = describeBody(json, payloadRoot)
  const bodyRoot = merkleize(body.leaves, BODY_DEPTH)
  const stateLeaves: Uint8Array[] = Array.from({ length: 1 << STATE_DEPTH }, () => new Uint8Array(32))
  stateLeaves[STATE.slot] = numberLeaf(slot)
  stateLeaves[STATE.finalizedCheckpoint] = merkleize(checkpointLeaves(finalized), 1)
  stateLeaves[STATE.currentCommittee] = committees(slot).root
  stateLeaves[STATE.nextCommittee] = committees(slot + SLOTS_PER_PERIOD).root
  const stateRoot = merkleize(stateLeaves, STATE_DEPTH)
  const parentRoot = parent?.root ?? new Uint8Array(32)
  const header = {
    slot: String(slot),
    proposer_index: '0',
    parent_root: formatData(parentRoot),
    state_root: formatData(stateRoot),
    body_root: formatData(bodyRoot),
  }
  const root = containerRoot([numberLeaf(slot), numberLeaf(0), parentRoot, stateRoot, bodyRoot])
  const executionBranch = branchOf(body.leaves, BODY_DEPTH, EXECUTION_PAYLOAD).map(formatData)
  const lightHeader = { beacon: header, execution: headerJson, execution_branch: executionBranch }
  return { slot, root, header, body: body.json, payload, finalized, stateLeaves, lightHeader }
}

function checkpointLeaves(finalized: BeaconBlock | undefined): Uint8Array[] {
  if (!finalized) return [new Uint8Array(32), new Uint8Array(32)]
  return [numberLeaf(Math.ceil(finalized.slot / SLOTS_PER_EPOCH)), finalized.root]
}

/** `LightClientBootstrap` of a block. */
export function bootstrapOf(committees: (slot: number) => SyncCommittee, block: BeaconBlock): Json {
  return {
    header: block.lightHeader,
    current_sync_committee: committees(block.slot).json,
    current_sync_committee_branch: branchOf(block.stateLeaves, STATE_DEPTH, STATE.currentCommittee).map(formatData),
  }
}

/** `LightClientUpdate` with the committee after that of a block, which its own committee signs. */
export function updateOf(committees: (slot: number) => SyncCommittee, block: BeaconBlock): Json {
  return {
    attested_header: block.lightHeader,
    next_sync_committee: committees(block.slot + SLOTS_PER_PERIOD).json,
    next_sync_committee_branch: branchOf(block.stateLeaves, STATE_DEPTH, STATE.nextCommittee).map(formatData),
    ...signatureOf(committees, block),
  }
}

/** `LightClientOptimisticUpdate` of a block. */
export function optimisticUpdateOf(committees: (slot: number) => SyncCommittee, block: BeaconBlock): Json {
  return { attested_header: block.lightHeader, ...signatureOf(committees, block) }
}

/** `LightClientFinalityUpdate` of a block; undefined without a finalized one. */
export function finalityUpdateOf(committees: (slot: number) => SyncCommittee, block: BeaconBlock): Json | undefined {
  if (!block.finalized) return undefined
  const [epoch] = checkpointLeaves(block.finalized)
  const branch = [epoch, ...branchOf(block.stateLeaves, STATE_DEPTH, STATE.finalizedCheckpoint)]
  return {
    ...optimisticUpdateOf(committees, block),
    finalized_header: block.finalized.lightHeader,
    finality_branch: branch.map(formatData),
  }
}

function signatureOf(committees: (slot: number) => SyncCommittee, { slot, root }: BeaconBlock): Json {
  return { sync_aggregate: committees(slot + 1).sign(root, DOMAIN), signature_slot: String(slot + 1) }
}

/** `ExecutionPayload` and its header (deneb/beacon-chain.md). */
function describePayload({ header, hash, transactions, withdrawals = [] }: Block) {
  if (withdrawals.length > 0) throw new Error('withdrawals are not encoded')
  const encoded = transactions.map(encodeTransaction)
  const transactionsRoot = listRoot(
    encoded.map((each) => byteListRoot(each, 2 ** 30)),
    2 ** 20,
  )
  const withdrawalsRoot = listRoot([], 16)
  const leaves = [
    header.parentHash,
    padded(header.miner),
    header.stateRoot,
    header.receiptsRoot,
    bytesRoot(header.logsBloom),
    header.mixHash,
    numberLeaf(header.number),
    numberLeaf(header.gasLimit),
    numberLeaf(header.gasUsed),
    numberLeaf(header.timestamp),
    byteListRoot(header.extraData, 32),
    numberLeaf(header.baseFeePerGas!),
    hash,
    transactionsRoot,
    withdrawalsRoot,
    numberLeaf(header.blobGasUsed!),
    numberLeaf(header.excessBlobGas!),
  ]
  const common = {
    parent_hash: formatData(header.parentHash),
    fee_recipient: formatData(header.miner),
    state_root: formatData(header.stateRoot),
    receipts_root: formatData(header.receiptsRoot),
    logs_bloom: formatData(header.logsBloom),
    prev_randao: formatData(header.mixHash),
    block_number: String(header.number),
    gas_limit: String(header.gasLimit),
    gas_used: String(header.gasUsed),
    timestamp: String(header.timestamp),
    extra_data: formatData(header.extraData),
    base_fee_per_gas: String(header.baseFeePerGas),
    block_hash: formatData(hash),
    blob_gas_used: String(header.blobGasUsed),
    excess_blob_gas: String(header.excessBlobGas),
  }
  return {
    json: { ...common, transactions: encoded.map(formatData), withdrawals: [] },
    headerJson: {
      ...common,
      transactions_root: formatData(transactionsRoot),
      withdrawals_root: formatData(withdrawalsRoot),
    },
    root: containerRoot(leaves),
  }
}

/** `BeaconBlockBody` without operations (electra/beacon-chain.md). */
function describeBody(payload: Json, payloadRoot: Uint8Array): { json: Json; leaves: Uint8Array[] } {
  const zero = new Uint8Array(32)
  const noSignature = `0x${'00'.repeat(96)}`
  const json = {
    randao_reveal: noSignature,
    eth1_data: { deposit_root: formatData(zero), deposit_count: '0', block_hash: formatData(zero) },
    graffiti: formatData(zero),
    proposer_slashings: [],
    attester_slashings: [],
    attestations: [],
    deposits: [],
    voluntary_exits: [],
    sync_aggregate: { sync_committee_bits: `0x${'00'.repeat(64)}`, sync_committee_signature: noSignature },
    execution_payload: payload,
    bls_to_execution_changes: [],
    blob_kzg_commitments: [],
    execution_requests: { deposits: [], withdrawals: [], consolidations: [] },
  }
  const signature = bytesRoot(new Uint8Array(96))
  const leaves = [
    signature,
    containerRoot([zero, zero, zero]),
    zero,
    listRoot([], 16),
    listRoot([], 1),
    listRoot([], 8),
    listRoot([], 16),
    listRoot([], 16),
    containerRoot([bytesRoot(new Uint8Array(64)), signature]),
    payloadRoot,
    listRoot([], 16),
    listRoot([], 4096),
    containerRoot([listRoot([], 8192), listRoot([], 16), listRoot([], 2)]),
  ]
  return { json, leaves }
}

const padded = (bytes: Uint8Array): Uint8Array => {
  const leaf = new Uint8Array(32)
  leaf.set(bytes)
  return leaf
}
