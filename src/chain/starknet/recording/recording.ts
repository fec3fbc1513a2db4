import type { L2Block, L2Commitments, L2Counts, L2UpstreamStatus } from '../types.js'
import { isPendingStatus, isRejectedStatus, L2_UPSTREAM_STATUSES } from '../types.js'
import {
  bareFelt,
  type Field,
  felt,
  InvalidL2Recording,
  list,
  member,
  oneOf,
  optional,
  safeInteger,
  text,
} from './fields.js'
import {
  readFeederPrices,
  readFeederReceipt,
  readFeederTransaction,
  readRpcPrices,
  readRpcStateDiff,
  readRpcTransactions,
  readStateDiff,
} from './parts.js'
import { readChainIdWitness } from './witness.js'

/** The block of a recording in any format of Starknet nodes and gateways: feeder `get_block`, `get_state_update` with
 *  its block, `get_preconfirmed_block`; RPC `getBlockWithTxHashes`, `WithTxs`, `WithReceipts` of any specification,
 *  with or without the JSON-RPC envelope; confirmed, pending and pre-confirmed; `{ block, state_update }` with such a
 *  block and the result of `getStateUpdate`.
 *  @throws InvalidL2Recording with the path of the field and the reason. */
export function readL2Recording(json: unknown): L2Block {
  const { block, stateUpdate, isFeeder } = openRecording(json)
  return isFeeder ? readFeederBlock(block, stateUpdate) : readRpcBlock(block, stateUpdate)
}

/** The parts of a recording, not read yet. */
export interface L2RecordingParts {
  readonly block: Field
  readonly stateUpdate: Field | undefined
  /** True for the format of the feeder gateway, false for that of the RPC. */
  readonly isFeeder: boolean
}

/** The block and the state update of a recording, without envelope.
 *  @throws InvalidL2Recording when it has no block. */
export function openRecording(json: unknown): L2RecordingParts {
  const root: Field = { value: json, path: 'recording' }
  const block = unwrapEnvelope(root)
  if (hasMember(block, 'state_update') && hasMember(block, 'block')) {
    const [own, stateUpdate] = [member(block, 'block'), member(block, 'state_update')]
    return { block: own, stateUpdate, isFeeder: isFeederBlock(own) }
  }
  if (hasMember(block, 'state_diff') && !hasMember(block, 'transactions')) {
    throw new InvalidL2Recording(
      `${block.path}: is a state update without its block; record get_state_update with includeBlock=true`,
    )
  }
  if (!hasMember(block, 'transactions') || !hasMember(block, 'timestamp')) {
    throw new InvalidL2Recording(`${block.path}: is no layer-2 block: it has no transactions or no timestamp`)
  }
  return { block, stateUpdate: undefined, isFeeder: isFeederBlock(block) }
}

/** Members of feeder blocks that RPC blocks do not have; every format since 2021 has one of them. */
const FEEDER_MEMBERS = ['parent_block_hash', 'transaction_receipts', 'state_root']

function isFeederBlock(block: Field): boolean {
  return FEEDER_MEMBERS.some((name) => hasMember(block, name))
}

function hasMember(field: Field, name: string): boolean {
  return member(field, name).value !== undefined
}

function unwrapEnvelope(root: Field): Field {
  if (!hasMember(root, 'jsonrpc')) return root
  const error = member(root, 'error')
  if (error.value !== undefined) {
    throw new InvalidL2Recording(
      `${error.path}: is an error, not a block: ${JSON.stringify(error.value).slice(0, 200)}`,
    )
  }
  const result = member(root, 'result')
  if (result.value === undefined) throw new InvalidL2Recording(`${result.path}: is null: no block was found`)
  return result
}

function readFeederBlock(block: Field, stateUpdate?: Field): L2Block {
  const transactions = list(member(block, 'transactions'), readFeederTransaction)
  const status = oneOf(member(block, 'status'), L2_UPSTREAM_STATUSES)
  const result: L2Block = {
    status,
    number: optional(member(block, 'block_number'), safeInteger),
    hash: optional(member(block, 'block_hash'), felt),
    parentHash: optional(member(block, 'parent_block_hash'), felt),
    newRoot: optional(member(block, 'state_root'), bareFelt),
    timestamp: safeInteger(member(block, 'timestamp')),
    sequencer: optional(member(block, 'sequencer_address'), felt),
    version: optional(member(block, 'starknet_version'), text) ?? '',
    prices: readFeederPrices(block),
    daMode: optional(member(block, 'l1_da_mode'), readDataMode),
    ...readHeaderExtras(block, transactions.length > 0),
    transactionHashes: transactions.map(({ hash }) => hash),
    transactions,
    receipts: readFeederReceipts(block),
    ...witnessOf(list(member(block, 'transactions'), (transaction) => transaction)),
  }
  if (stateUpdate !== undefined) {
    result.stateDiff = readStateDiff(member(stateUpdate, 'state_diff'))
    compareStateUpdate(result, stateUpdate)
  }
  return checkMembers(result, block)
}

/** The receipts; undefined when they are absent or some are null, as in unfinished blocks. */
function readFeederReceipts(block: Field): L2Block['receipts'] {
  const receipts = member(block, 'transaction_receipts')
  if (receipts.value === undefined || (Array.isArray(receipts.value) && receipts.value.includes(null))) return undefined
  return list(receipts, readFeederReceipt)
}

function compareStateUpdate({ hash, newRoot }: L2Block, stateUpdate: Field): void {
  const updateHash = member(stateUpdate, 'block_hash')
  if (hash !== undefined && updateHash.value !== undefined && felt(updateHash) !== hash) {
    throw new InvalidL2Recording(`${updateHash.path}: is not the hash of the block beside it`)
  }
  const updateRoot = member(stateUpdate, 'new_root')
  if (newRoot !== undefined && updateRoot.value !== undefined && bareFelt(updateRoot) !== newRoot) {
    throw new InvalidL2Recording(`${updateRoot.path}: is not the state root of the block beside it`)
  }
}

function readRpcBlock(block: Field, stateUpdate?: Field): L2Block {
  const hash = optional(member(block, 'block_hash'), felt)
  const number = optional(member(block, 'block_number'), safeInteger)
  const transactions = readRpcTransactions(member(block, 'transactions'))
  // Version '' means a block older than version numbers; undefined means a specification (before 0.5) that omits the
  // version.
  const result: L2Block = {
    status: readRpcStatus(block, { isConfirmed: hash !== undefined, hasNumber: number !== undefined }),
    number,
    hash,
    parentHash: optional(member(block, 'parent_hash'), felt),
    newRoot: optional(member(block, 'new_root'), felt),
    timestamp: safeInteger(member(block, 'timestamp')),
    sequencer: optional(member(block, 'sequencer_address'), felt),
    version: optional(member(block, 'starknet_version'), text),
    prices: readRpcPrices(block),
    daMode: optional(member(block, 'l1_da_mode'), readDataMode),
    ...readHeaderExtras(block, transactions.transactionHashes.length > 0),
    ...transactions,
    ...witnessOf(list(member(block, 'transactions'), transactionOf)),
  }
  if (stateUpdate !== undefined) {
    result.stateDiff = readRpcStateDiff(member(stateUpdate, 'state_diff'))
    compareStateUpdate(result, stateUpdate)
  }
  return checkMembers(result, block)
}

function witnessOf(transactions: readonly Field[]): Pick<L2Block, 'chainIdWitness'> {
  const chainIdWitness = readChainIdWitness(transactions)
  return chainIdWitness === undefined ? {} : { chainIdWitness }
}

/** The transaction of an entry of an RPC block: the entry itself or, in `getBlockWithReceipts`, its member
 *  `transaction`, with its hash. */
export function transactionOf(entry: Field): Field {
  const isPair = typeof entry.value === 'object' && entry.value !== null && 'receipt' in entry.value
  if (!isPair) return entry
  const transaction = member(entry, 'transaction')
  const hash = member(member(entry, 'receipt'), 'transaction_hash').value
  if (typeof transaction.value !== 'object' || transaction.value === null) return transaction
  // Since 0.7 only the receipt has the hash.
  return { ...transaction, value: { transaction_hash: hash, ...transaction.value } }
}

/** The status. Specifications since 0.4 omit it for unconfirmed blocks; a block number then means pre-confirmed. */
function readRpcStatus(block: Field, { isConfirmed, hasNumber }: { isConfirmed: boolean; hasNumber: boolean }) {
  const status = member(block, 'status')
  if (status.value === undefined && !isConfirmed) return hasNumber ? 'PRE_CONFIRMED' : 'PENDING'
  return oneOf<L2UpstreamStatus>(status, L2_UPSTREAM_STATUSES)
}

function readDataMode(field: Field): 'CALLDATA' | 'BLOB' {
  return oneOf(field, ['CALLDATA', 'BLOB'])
}

/** Commitments and counts; empty when the publisher filled them with zeros: the root over one or more transactions is
 *  never zero. */
function readHeaderExtras(block: Field, hasTransactions: boolean): { commitments: L2Commitments; counts: L2Counts } {
  const commitments = readCommitments(block)
  const isPlaceholder = commitments.transactionCommitment === 0n && hasTransactions
  return isPlaceholder ? { commitments: {}, counts: {} } : { commitments, counts: readCounts(block) }
}

function readCommitments(block: Field): L2Commitments {
  return {
    transactionCommitment: optional(member(block, 'transaction_commitment'), felt),
    eventCommitment: optional(member(block, 'event_commitment'), felt),
    receiptCommitment: optional(member(block, 'receipt_commitment'), felt),
    stateDiffCommitment: optional(member(block, 'state_diff_commitment'), felt),
  }
}

function readCounts(block: Field): L2Counts {
  return {
    transactionCount: optional(member(block, 'transaction_count'), safeInteger),
    eventCount: optional(member(block, 'event_count'), safeInteger),
    stateDiffLength: optional(member(block, 'state_diff_length'), safeInteger),
  }
}

/** Returns the block.
 *  @throws InvalidL2Recording when it lacks a member required for its status, or is unconfirmed and has a hash. */
function checkMembers(block: L2Block, { path }: Field): L2Block {
  if (isPendingStatus(block.status)) {
    if (block.hash !== undefined) throw new InvalidL2Recording(`${path}: is ${block.status}, yet has a block_hash`)
    return block
  }
  if (block.hash === undefined) throw new InvalidL2Recording(`${path}.block_hash: missing`)
  if (block.number === undefined) throw new InvalidL2Recording(`${path}.block_number: missing`)
  if (isRejectedStatus(block.status)) return block
  if (block.parentHash === undefined) throw new InvalidL2Recording(`${path}: the hash of the parent is missing`)
  if (block.newRoot === undefined) throw new InvalidL2Recording(`${path}: the state root is missing`)
  return block
}
