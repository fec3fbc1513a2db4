import { equalBytes } from '../../../lib/bytes.js'
import { formatData } from '../../../lib/hex.js'
import { asBytes, asList, asUint, DecodeError, decodeRlp } from '../rlp.js'
import { sha256Pair } from './accumulator.js'

/** What a proof leads to: the accumulator root of a file before the merge, or a root of the beacon chain, by number of
 *  its period of 8,192 slots. */
export type ProvedRoot =
  | { readonly kind: 'accumulator'; readonly root: Uint8Array }
  | { readonly kind: 'historicalRoots' | 'historicalSummaries'; readonly root: Uint8Array; readonly period: number }

/** A block whose hash a proof must contain. */
export interface ProvedBlock {
  readonly number: number
  readonly hash: Uint8Array // 32
}

const PERIOD = 8192
const NODE_BYTES = 32
const MAX_SLOT_BYTES = 8

// Position of the block hash in a beacon block as a generalized index of SSZ: body, execution payload, block hash.
// Deneb gave the payload more than 16 fields.
const BLOCK_HASH_INDEX = (12 * 16 + 9) * 16 + 12
const BLOCK_HASH_INDEX_DENEB = (12 * 16 + 9) * 32 + 12

/** Forms of the proof types 1 to 3: depths of the branch of the beacon block and of the block hash in it. */
const BEACON_PROOFS: {
  readonly [type: number]: {
    readonly kind: 'historicalRoots' | 'historicalSummaries'
    readonly beaconDepth: number
    readonly executionIndex: number
  }
} = {
  1: { kind: 'historicalRoots', beaconDepth: 14, executionIndex: BLOCK_HASH_INDEX },
  2: { kind: 'historicalSummaries', beaconDepth: 13, executionIndex: BLOCK_HASH_INDEX },
  3: { kind: 'historicalSummaries', beaconDepth: 13, executionIndex: BLOCK_HASH_INDEX_DENEB },
}

const ACCUMULATOR_DEPTH = 15 // block hash in its record, record in the list of 8192, the list's length

/** Follows the proof of a block from the RLP of an ere file's proof entry, [type, SSZ] (Portal Network, history
 *  network). Returns the root it leads to: the caller compares it with one that it trusts. Undefined for types that are
 *  not known, such as that of Gloas.
 *  @throws DecodeError for a malformed proof, and for one whose branch does not lead from the block's hash to the
 *  beacon block that it names */
export function followBlockProof(rlp: Uint8Array, block: ProvedBlock): ProvedRoot | undefined {
  const [typeItem, valueItem] = asList(decodeRlp(rlp, 'proof'), 'proof', 2, 2)
  const type = Number(asUint(typeItem, 1, 'proof.type'))
  const value = asBytes(valueItem, 'proof.value')
  if (type === 0) return { kind: 'accumulator', root: followAccumulator(value, block) }
  const form = BEACON_PROOFS[type]
  if (form === undefined) return undefined
  const { kind, beaconDepth, executionIndex } = form
  const executionDepth = Math.floor(Math.log2(executionIndex))
  requireLength(value, (beaconDepth + 1 + executionDepth) * NODE_BYTES + MAX_SLOT_BYTES)
  const nodes = splitNodes(value)
  const beaconRoot = nodes[beaconDepth]
  const found = foldBranch(block.hash, executionIndex, nodes.slice(beaconDepth + 1, beaconDepth + 1 + executionDepth))
  if (!equalBytes(found, beaconRoot)) {
    throw new DecodeError(
      'proof',
      `expected a branch to the beacon block ${formatData(beaconRoot)}, it leads to ${formatData(found)}`,
    )
  }
  const slot = readSlot(value)
  const root = foldBranch(beaconRoot, 2 ** beaconDepth + (slot % PERIOD), nodes.slice(0, beaconDepth))
  return { kind, root, period: Math.floor(slot / PERIOD) }
}

function followAccumulator(value: Uint8Array, { number, hash }: ProvedBlock): Uint8Array {
  requireLength(value, ACCUMULATOR_DEPTH * NODE_BYTES)
  // The hash is the first of two fields; the list's root is the first of two, beside its length.
  return foldBranch(hash, PERIOD * 2 * 2 + (number % PERIOD) * 2, splitNodes(value))
}

/** Returns the root that a branch leads to from a leaf at a generalized index. */
function foldBranch(leaf: Uint8Array, index: number, branch: readonly Uint8Array[]): Uint8Array {
  let node = leaf
  let at = index
  for (const sibling of branch) {
    node = at % 2 === 0 ? sha256Pair(node, sibling) : sha256Pair(sibling, node)
    at = Math.floor(at / 2)
  }
  return node
}

function splitNodes(value: Uint8Array): Uint8Array[] {
  const count = Math.floor(value.length / NODE_BYTES)
  return Array.from({ length: count }, (_, i) => value.subarray(i * NODE_BYTES, (i + 1) * NODE_BYTES))
}

function readSlot(value: Uint8Array): number {
  const slot = new DataView(value.buffer, value.byteOffset).getBigUint64(value.length - MAX_SLOT_BYTES, true)
  if (slot > BigInt(Number.MAX_SAFE_INTEGER)) throw new DecodeError('proof.slot', `expected a slot, got ${slot}`)
  return Number(slot)
}

function requireLength(value: Uint8Array, length: number): void {
  if (value.length !== length) throw new DecodeError('proof.value', `expected ${length} bytes, got ${value.length}`)
}
