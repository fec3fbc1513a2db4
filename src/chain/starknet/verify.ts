import { computeBlockHash, type L2HashInputs } from './blockHash.js'
import { findChainId } from './chainIdWitness.js'
import {
  computeEventCommitment,
  computeReceiptCommitment,
  computeStateDiffCommitment,
  computeTransactionCommitment,
  countEvents,
  countStateChanges,
} from './commitments.js'
import { type Felt, formatFelt } from './felt.js'
import { candidateNetworks, type L2Network, type L2NetworkName } from './networks.js'
import type { PairHasher } from './pedersen.js'
import type { L2Block, L2Commitments } from './types.js'
import { hashRulesOf, type L2HashRules } from './version.js'

/** Result of verifying a block hash:
 *  - `match`: recomputed from the recording; `inputs` are the commitments and counts it covers
 *  - `mismatch`: the hash, or data it covers, differs from the recording
 *  - `unverifiable`: mismatch in a range where no hash can be verified
 *  - `incomplete`: the recording lacks data that the hash covers
 *  - `unchecked`: not verified
 *  `chainId` is set when the hash of the block (before 0.7) or of one of its transactions covers that of a known
 *  network. */
export type L2Verdict =
  | { kind: 'match'; inputs: L2HashInputs; chainId?: string }
  | { kind: 'mismatch'; check: string; expected: string; actual: string }
  | { kind: 'unverifiable'; reason: string; chainId?: string }
  | { kind: 'incomplete'; reason: string; chainId?: string }
  | { kind: 'unchecked' }

type Mismatch = L2Verdict & { kind: 'mismatch' }

/** Verifies a block, on this or another thread. Without `network` the rules of all known networks are tried. */
export type L2VerifyFunction = (block: L2Block, network?: L2NetworkName) => Promise<L2Verdict>

/** A block under verification. */
interface Case {
  block: L2Block
  rules: L2HashRules
  networks: L2Network[]
  pedersenPairs: PairHasher
}

/** Recomputes the hash of a block from its recording and compares it. A commitment is computed from its parts; the
 *  header's commitment is used only when the parts are missing. `likelyChainId` is tried first for transaction
 *  hashes. */
export function verifyL2Block(
  block: L2Block,
  network: L2NetworkName | undefined,
  pedersenPairs: PairHasher,
  likelyChainId?: string,
): L2Verdict {
  // Nothing is missing from an empty block, whose commitments are zero, or absent before RPC 0.10.
  const isEmpty = block.transactionHashes.length === 0 && !block.commitments.transactionCommitment
  const verdict = recompute(isEmpty ? { ...block, transactions: [], receipts: [] } : block, network, pedersenPairs)
  if (verdict.kind === 'mismatch' || verdict.kind === 'unchecked' || verdict.chainId !== undefined) return verdict
  const chainId = block.chainIdWitness && findChainId(block.chainIdWitness, pedersenPairs, likelyChainId)
  return chainId === undefined ? verdict : { ...verdict, chainId }
}

function recompute(block: L2Block, network: L2NetworkName | undefined, pedersenPairs: PairHasher): L2Verdict {
  if (block.hash === undefined || block.number === undefined) return { kind: 'incomplete', reason: 'it has no hash' }
  if (block.parentHash === undefined) return { kind: 'incomplete', reason: 'it does not name its parent' }
  if (block.newRoot === undefined) return { kind: 'incomplete', reason: 'it lacks its state root' }
  if (block.version === undefined) return { kind: 'incomplete', reason: 'it does not name its version' }
  const rules = hashRulesOf(block.version)
  if (rules === undefined) return { kind: 'incomplete', reason: `the rules of version ${block.version} are not known` }
  const networks = candidateNetworks(network)
  const verdict = compareLists(block) ?? verifyHash({ block, rules, networks, pedersenPairs })
  return verdict.kind === 'mismatch' && network !== undefined ? excuse(verdict, block.number, networks[0]) : verdict
}

function verifyHash(subject: Case): L2Verdict {
  return subject.rules === 'poseidon-0' || subject.rules === 'poseidon-1'
    ? verifyPoseidon(subject)
    : verifyPedersen(subject)
}

/** Compares the lists of a recording with each other and with its counts. */
function compareLists(block: L2Block): Mismatch | undefined {
  const { transactionHashes, receipts, stateDiff, counts } = block
  const differ = (check: string, named: number | undefined, counted: number | undefined) =>
    named === undefined || counted === undefined || named === counted ? undefined : mismatchOf(check, named, counted)
  return (
    differ('transaction count', counts.transactionCount, transactionHashes.length) ??
    differ('receipt count', receipts && transactionHashes.length, receipts?.length) ??
    compareReceipts(block) ??
    differ('event count', counts.eventCount, receipts && countEvents(receipts)) ??
    differ('state diff length', counts.stateDiffLength, stateDiff && countStateChanges(stateDiff))
  )
}

function compareReceipts({ transactionHashes, receipts = [] }: L2Block): Mismatch | undefined {
  for (const [i, { transactionHash }] of receipts.entries()) {
    if (transactionHash !== transactionHashes[i]) {
      return mismatchOf(`transaction hash of receipt ${i}`, transactionHashes[i], transactionHash)
    }
  }
  return undefined
}

/** The commitment in the header; undefined when it is zero, which some nodes return for unknown ones. */
function namedCommitment(block: L2Block, name: keyof L2Commitments): Felt | undefined {
  return block.commitments[name] === 0n ? undefined : block.commitments[name]
}

/** Since 0.13.2 the hash covers all parts of a block. */
function verifyPoseidon({ block, rules, pedersenPairs }: Case): L2Verdict {
  const { transactions, receipts, stateDiff, counts } = block
  const computed: L2Commitments = {
    transactionCommitment: transactions && computeTransactionCommitment(transactions, rules, pedersenPairs),
    eventCommitment: receipts && computeEventCommitment(receipts, rules, pedersenPairs),
    receiptCommitment: receipts && computeReceiptCommitment(receipts),
    stateDiffCommitment: stateDiff && computeStateDiffCommitment(stateDiff),
  }
  const eventCount = (receipts && countEvents(receipts)) ?? counts.eventCount
  const inputs = {
    transactionCommitment: computed.transactionCommitment ?? namedCommitment(block, 'transactionCommitment'),
    eventCommitment: computed.eventCommitment ?? namedEventCommitment(block, eventCount),
    receiptCommitment: computed.receiptCommitment ?? namedCommitment(block, 'receiptCommitment'),
    stateDiffCommitment: computed.stateDiffCommitment ?? namedCommitment(block, 'stateDiffCommitment'),
    transactionCount: block.transactionHashes.length,
    eventCount,
    stateDiffLength: stateDiff ? countStateChanges(stateDiff) : counts.stateDiffLength,
  }
  const { l2Wei, l2Fri, ...l1Prices } = block.prices
  const missing = findMissing({ ...inputs, ...l1Prices, ...(rules === 'poseidon-1' ? { l2Wei, l2Fri } : {}) })
  if (missing !== undefined) return { kind: 'incomplete', reason: `it lacks ${missing}` }
  const hash = computeBlockHash(block, inputs, { rules, pedersenPairs })
  return hash === block.hash ? { kind: 'match', inputs } : explainMismatch(block, computed, hash)
}

/** The event commitment in the header. For a block without events it is zero, not a placeholder. */
function namedEventCommitment(block: L2Block, eventCount: number | undefined): Felt | undefined {
  return eventCount === 0 ? 0n : namedCommitment(block, 'eventCommitment')
}

const PART_NAMES: Readonly<Record<string, string>> = {
  transactionCommitment: 'transactions with signatures',
  eventCommitment: 'events',
  receiptCommitment: 'receipts with fees and gas',
  stateDiffCommitment: 'a state diff',
  eventCount: 'events',
  stateDiffLength: 'a state diff',
}

/** The first missing value, in words. */
function findMissing(values: Readonly<Record<string, unknown>>): string | undefined {
  const name = Object.keys(values).find((key) => values[key] === undefined)
  return name === undefined ? undefined : (PART_NAMES[name] ?? 'gas prices')
}

/** Before 0.13.2: tries all rules that may apply, cheapest first. */
function verifyPedersen({ block, rules, networks, pedersenPairs }: Case): L2Verdict {
  const { transactions, receipts } = block
  const computed: L2Commitments = {
    transactionCommitment: transactions && computeTransactionCommitment(transactions, rules, pedersenPairs),
  }
  const transactionCommitment = computed.transactionCommitment ?? namedCommitment(block, 'transactionCommitment')
  if (transactionCommitment === undefined)
    return { kind: 'incomplete', reason: 'it lacks transactions with signatures' }
  const inputs: L2HashInputs = { transactionCommitment, transactionCount: block.transactionHashes.length }
  const older = block.version === '' ? networks.filter(({ firstBlockOf07 }) => block.number! < firstBlockOf07) : []
  let hash: Felt | undefined
  for (const chainId of new Set(older.map((network) => network.chainId))) {
    hash = computeBlockHash(block, inputs, { rules, pedersenPairs, chainId })
    if (hash === block.hash) return { kind: 'match', inputs, chainId }
  }
  if (older.length < networks.length) {
    computed.eventCommitment = receipts && computeEventCommitment(receipts, rules, pedersenPairs)
    inputs.eventCount = (receipts && countEvents(receipts)) ?? block.counts.eventCount
    inputs.eventCommitment = computed.eventCommitment ?? namedEventCommitment(block, inputs.eventCount)
    const missing = findMissing(inputs as Record<string, unknown>)
    if (missing !== undefined) return { kind: 'incomplete', reason: `it lacks ${missing}` }
    for (const sequencer of candidateSequencers(block, networks)) {
      hash = computeBlockHash({ ...block, sequencer }, inputs, { rules, pedersenPairs })
      if (hash === block.hash) return { kind: 'match', inputs }
    }
  }
  return explainMismatch(block, computed, hash!)
}

/** The sequencer of the header; without one, zero (0.7), then the fallback sequencers of 0.8.0 to 0.8.2. */
function candidateSequencers({ sequencer }: L2Block, networks: readonly L2Network[]): Set<Felt> {
  if (sequencer !== undefined && sequencer !== 0n) return new Set([sequencer])
  return new Set([0n, ...networks.flatMap(({ fallbackSequencer }) => fallbackSequencer ?? [])])
}

/** Names the first commitment that differs from the header, or else the hash. For wrong hashes only: headers of the
 *  gateway may have commitments that the hash does not cover. */
function explainMismatch(block: L2Block, computed: L2Commitments, hash: Felt): Mismatch {
  for (const [name, check] of Object.entries(COMMITMENT_NAMES) as [keyof L2Commitments, string][]) {
    const [named, own] = [namedCommitment(block, name), computed[name]]
    if (named !== undefined && own !== undefined && named !== own) return mismatchOf(check, named, own)
  }
  return mismatchOf('block hash', block.hash!, hash)
}

const COMMITMENT_NAMES: Readonly<Record<keyof L2Commitments, string>> = {
  transactionCommitment: 'transaction commitment',
  eventCommitment: 'event commitment',
  receiptCommitment: 'receipt commitment',
  stateDiffCommitment: 'state diff commitment',
}

function mismatchOf(check: string, expected: Felt | number, actual: Felt | number): Mismatch {
  const format = (value: Felt | number) => (typeof value === 'bigint' ? formatFelt(value) : String(value))
  return { kind: 'mismatch', check, expected: format(expected), actual: format(actual) }
}

/** A mismatch in an unverifiable range is not an error. */
function excuse(mismatch: Mismatch, number: number, { name, unverifiable: range }: L2Network): L2Verdict {
  if (range === undefined || number < range.from || number > range.to) return mismatch
  return { kind: 'unverifiable', reason: `blocks ${range.from} to ${range.to} of ${name} were ${range.reason}` }
}
