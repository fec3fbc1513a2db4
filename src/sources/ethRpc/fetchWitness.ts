import { keccak256 } from '../../chain/crypto.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { createPause } from '../../lib/pause.js'
import {
  UpstreamHttpStatus,
  UpstreamInvalidResponse,
  UpstreamLacksData,
  UpstreamOversized,
  UpstreamTimeout,
} from '../upstreams/errors.js'
import type { OptionalMethod } from '../upstreams/features.js'
import { isObject, type RpcAnswer } from '../upstreams/jsonRpc.js'
import type { Pool } from '../upstreams/pool.js'
import type { Upstream } from '../upstreams/upstream.js'
import { checked } from './checked.js'
import { parseData } from './fields.js'
import { isRefused, requestOptional, requireBlock } from './requestState.js'
import type { ExecutionWitness, WitnessBlock } from './stateTypes.js'

const METHOD = 'debug_executionWitness'
const BY_HASH = 'debug_executionWitnessByBlockHash'
const CHECK = 'witness: node'
// The response has at most `maxResponseBytes`. A block of mainnet touches some 20,000 nodes and 1,000 codes.
const MAX_NODES = 2 ** 20
const MAX_CODES = 2 ** 16

/** Implements `UpstreamState.executionWitness`. */
export async function fetchWitness(
  pool: Pool,
  block: WitnessBlock,
  signal: AbortSignal | undefined,
): Promise<ExecutionWitness | undefined> {
  return pool.find(
    `the witness of block ${block.number}`,
    async (upstream) => {
      const found = await fetchWitnessFrom(upstream, block, signal)
      if (!found) return undefined
      const blockNumber = block.number
      const refuse = (problem: string) =>
        pool.quarantine(upstream, new UpstreamInvalidResponse(upstream.name, { check: CHECK, problem, blockNumber }))
      return { ...found, upstream: upstream.name, refuse }
    },
    signal,
  )
}

/** Returns nodes and codes of the witness of one upstream; undefined when it makes none of the block, or one that is
 *  larger than a response may be. @throws UpstreamInvalidResponse with the check `witness: node`; UpstreamError */
export async function fetchWitnessFrom(
  upstream: Upstream,
  block: WitnessBlock,
  signal: AbortSignal | undefined,
): Promise<Pick<ExecutionWitness, 'nodes' | 'codes'> | undefined> {
  const asked = await askForWitness(upstream, block, signal)
  // Proofs can be fetched in place of a witness, so that an error is no failure.
  if (!asked || !('result' in asked.answer) || asked.answer.result === null) return undefined
  const { result } = asked.answer
  try {
    const read = checked(upstream, block.number, () => ({
      nodes: readList(result, 'state', MAX_NODES),
      codes: readList(result, 'codes', MAX_CODES),
    }))
    const isComplete = equalBytes(block.parentStateRoot, EMPTY_TRIE_ROOT)
    // An empty block before Cancun reads nothing, not even the root.
    if (read.nodes.length === 0 && !isComplete) return undefined
    if (isComplete || (await includesRoot(read.nodes, block.parentStateRoot))) return read
    const problem = `expected the node of the parent's state root ${formatData(block.parentStateRoot)}, it is missing`
    throw new UpstreamInvalidResponse(upstream.name, { check: CHECK, problem, blockNumber: block.number })
  } catch (error) {
    if (asked.isByNumber && error instanceof UpstreamInvalidResponse) await requireBlock(upstream, block, signal)
    throw error
  }
}

/** Asks by the hash of the block, with reth's method for that, or by its number: the first way that the upstream
 *  accepts, which is remembered. */
async function askForWitness(
  upstream: Upstream,
  { number, hash }: WitnessBlock,
  signal: AbortSignal | undefined,
): Promise<{ answer: RpcAnswer; isByNumber: boolean } | undefined> {
  const { features } = upstream
  const refused: OptionalMethod[] = []
  try {
    for (const way of ['witness by hash', BY_HASH] as const) {
      if (!features.has(way)) continue
      const isOwn = way === BY_HASH
      const answers = await requestOptional(upstream, isOwn ? BY_HASH : METHOD, [[formatData(hash)]], signal)
      if (!answers && !isOwn) return undefined
      const answer = answers?.[0]
      if (answer && !isRefused(answer)) {
        if ('result' in answer) for (const each of refused) features.lacks(each)
        return { answer, isByNumber: false }
      }
      refused.push(way)
    }
    const answers = await requestOptional(upstream, METHOD, [[formatQuantity(number)]], signal)
    if (!answers) return undefined
    if ('result' in answers[0]) for (const each of refused) features.lacks(each)
    return { answer: answers[0], isByNumber: true }
  } catch (error) {
    if (!isUnusable(error)) throw error
    throw new UpstreamLacksData(upstream.name, `the witness of block ${number}`)
  }
}

/** True when the upstream may answer other requests: the witness is too large, or takes too long to make. */
function isUnusable(error: unknown): boolean {
  return error instanceof UpstreamOversized || error instanceof UpstreamTimeout || error instanceof UpstreamHttpStatus
}

/** Reads the nodes or the codes: an array, or in op-geth and early reth an object by hash, whose hashes are not used.
 *  @throws DecodeError at `witness: node` */
function readList(result: unknown, name: 'state' | 'codes', max: number): Uint8Array[] {
  const fail = (problem: string) => new DecodeError(CHECK, `${name}: ${problem}`)
  if (!isObject(result)) throw fail('expected an object with arrays')
  const list = result[name]
  const items = Array.isArray(list) ? list : isObject(list) ? Object.values(list) : undefined
  if (!items) throw fail('expected an array of hex data')
  if (items.length > max) throw fail(`expected at most ${max}, got ${items.length}`)
  return items.map((item, i) => {
    const bytes = parseData(item)
    if (bytes) return bytes
    throw fail(`expected hex data at ${i}`)
  })
}

async function includesRoot(nodes: readonly Uint8Array[], root: Uint8Array): Promise<boolean> {
  const pause = createPause(20)
  for (const node of nodes) {
    if (equalBytes(keccak256(node), root)) return true
    await pause()
  }
  return false
}
