import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { decodeFelt, encodeFelt, formatFelt } from '../../chain/starknet/felt.js'
import type { L2Block } from '../../chain/starknet/types.js'
import type { L2Verdict } from '../../chain/starknet/verify.js'
import { hashRulesOf } from '../../chain/starknet/version.js'
import type { BlockFetcher } from '../upstreams/blockFetcher.js'
import { systemClock } from '../upstreams/clock.js'
import { suffixesOf } from '../upstreams/describeUrl.js'
import { UpstreamRpcError, WrongChain } from '../upstreams/errors.js'
import { Pool } from '../upstreams/pool.js'
import { prefetchBlocks } from '../upstreams/prefetch.js'
import { openJsonRpc } from '../upstreams/transport.js'
import { DEFAULT_UPSTREAM_LIMITS } from '../upstreams/types.js'
import { Upstream } from '../upstreams/upstream.js'
import { watchHeads } from '../upstreams/watchHeads.js'
import { checkedL2, lieOf, parseL2Json, readRef } from './checkedL2.js'
import { FEEDER_DIALECT } from './feederDialect.js'
import { openFeeder } from './feederTransport.js'
import { createRpcDialect } from './rpcDialect.js'
import { searchAccepted } from './searchAccepted.js'
import type { L2Dialect, L2Fetched, L2Upstreams, L2UpstreamsOptions, L2Verified } from './types.js'

const deflateInThread = promisify(deflate)

// A gateway is shared by all: it accepts no batches, and few requests at a time.
const FEEDER_LIMITS = { maxConcurrency: 8, maxBatch: 1 }
// The largest known block has 2 MB. A batch of a Starknet node is answered whole.
const RPC_LIMITS = { maxBatch: 16 }

/** Opens upstreams of a layer-2 chain, without connecting yet. @throws UsageError for an address that cannot be
 *  used. */
export function openL2Upstreams(options: L2UpstreamsOptions): L2Upstreams {
  const { expected, log, clock = systemClock } = options
  const limits = { ...DEFAULT_UPSTREAM_LIMITS, ...options.limits }
  const dialects = openDialects(options)
  const dialectOf = (upstream: Upstream) => dialects.get(upstream)!
  const origins = new WeakMap<L2Block, Upstream>()
  let firstChainId: string | undefined

  /** @throws WrongChain, UpstreamError */
  const checkChain = async (upstream: Upstream, signal: AbortSignal | undefined) => {
    const chainId = await dialectOf(upstream).chainId(upstream, signal)
    const { block, chainId: known = firstChainId } = expected()
    if (chainId !== undefined && known !== undefined && chainId !== known) {
      throw new WrongChain(upstream.name, 'chain id', known, chainId)
    }
    firstChainId ??= chainId
    const bytes = block && (await fetcher.hashAt(upstream, block.number, signal))
    const hash = bytes && decodeFelt(bytes)
    if (hash !== undefined && hash !== block!.hash) {
      throw new WrongChain(upstream.name, 'block hash', formatFelt(block!.hash), formatFelt(hash))
    }
  }
  const fetcher = createFetcher(options, dialectOf)
  const pool = new Pool([...dialects.keys()], { checkChain, log, clock })
  const head = (upstream: Upstream, signal?: AbortSignal) => dialectOf(upstream).head(upstream, signal)
  const blocks: L2Upstreams['blocks'] = async function* (range) {
    for await (const { block, upstream } of prefetchBlocks(range, { pool, fetcher, limits, log, clock })) {
      origins.set(block.block, upstream)
      yield block
    }
  }
  const feed = {
    fetch: head,
    subscription: {
      subscribe: 'starknet_subscribeNewHeads',
      params: [],
      unsubscribe: 'starknet_unsubscribe',
    },
    read: readNewHead,
    timeOf: ({ number, timestamp }: { number: number; timestamp?: bigint }) => ({ number, timestamp }),
  } as const

  return {
    start: (signal) => pool.checkAll(signal),
    head: (signal) => pool.run((upstream) => head(upstream, signal), signal),
    watchHeads: (onHead, signal) => watchHeads({ pool, feed, log, clock }, onHead, signal),
    hashAt: async (number, signal) => {
      const hash = await pool.find(`block ${number}`, (upstream) => fetcher.hashAt(upstream, number, signal), signal)
      return hash && decodeFelt(hash)
    },
    blocks,
    acceptedOnL1: (range, hashOf, signal) =>
      pool.run((upstream) => searchAccepted({ upstream, dialect: dialectOf(upstream), hashOf, signal }, range), signal),
    pending: async (parent, signal) => {
      const fetched = await pool.run((upstream) => dialectOf(upstream).pending(upstream, parent.number, signal), signal)
      if (fetched === undefined) return undefined
      const { block, json } = fetched
      const isOnParent =
        (block.number === undefined || block.number === parent.number + 1) &&
        (block.parentHash === undefined || block.parentHash === parent.hash)
      return isOnParent ? { block, raw: await deflateInThread(JSON.stringify(json)) } : undefined
    },
    reportInvalid: (block, { check, message }) => {
      const upstream = origins.get(block)
      if (upstream) pool.quarantine(upstream, lieOf(upstream, block.number, check, message))
    },
    status: () => pool.status(),
    stall: () => pool.stall(),
    progressed: () => pool.progressed(),
    close: () => pool.close(),
  }
}

/** Opens the upstreams: nodes first, then feeder gateways, each with its dialect. */
function openDialects(options: L2UpstreamsOptions): Map<Upstream, L2Dialect> {
  const { rpc, feeders, limits, log, clock = systemClock, random = Math.random } = options
  const suffixes = suffixesOf([...rpc, ...feeders].map(({ url }) => url))
  const dialects = new Map<Upstream, L2Dialect>()
  const rpcDialect = createRpcDialect()
  for (const [i, address] of [...rpc, ...feeders].entries()) {
    const isRpc = i < rpc.length
    const own = { ...DEFAULT_UPSTREAM_LIMITS, ...(isRpc ? RPC_LIMITS : FEEDER_LIMITS), ...limits }
    const transport = isRpc ? openJsonRpc(parseL2Json) : openFeeder
    const upstream = new Upstream(address, { limits: own, clock, random, log, suffix: suffixes[i], transport })
    dialects.set(upstream, isRpc ? rpcDialect : FEEDER_DIALECT)
  }
  return dialects
}

/** Reads the head of a notification. Undefined for a reorg, which lists only removed blocks, and where older nodes
 *  leave members out. */
function readNewHead(upstream: Upstream, result: unknown) {
  const isHeader = typeof result === 'object' && result !== null && 'block_hash' in result
  if (!isHeader) return undefined
  const { number, hash } = checkedL2(upstream, undefined, () => readRef(result, 'newHeads'))
  return { number, hash: encodeFelt(hash), timestamp: undefined }
}

/** Creates a fetcher of verified blocks. */
function createFetcher(
  { verify, expected, log }: L2UpstreamsOptions,
  dialectOf: (upstream: Upstream) => L2Dialect,
): BlockFetcher<L2Verified> {
  const warned = new WeakSet<Upstream>()
  const verifyBlock = async (upstream: Upstream, fetched: L2Fetched): Promise<L2Verified> => {
    const { block, json } = fetched
    requireWhole(upstream, block, verify !== undefined && dialectOf(upstream).isComplete(upstream))
    const verdict: L2Verdict = verify ? await verify(block, expected().network) : { kind: 'unchecked' }
    if (verdict.kind === 'mismatch') {
      const problem = `expected ${verdict.expected}, the block has ${verdict.actual}`
      throw lieOf(upstream, block.number, verdict.check, problem)
    }
    if (verdict.kind === 'incomplete') {
      if (dialectOf(upstream).isComplete(upstream)) {
        throw lieOf(upstream, block.number, 'block hash', `cannot be recomputed: ${verdict.reason}`)
      }
      const fields = { upstream: upstream.name, blockNumber: block.number, reason: verdict.reason }
      if (!warned.has(upstream)) {
        log.warn(
          fields,
          'block hashes cannot be recomputed from what this upstream gives; a node with RPC 0.8 or later is needed',
        )
      }
      warned.add(upstream)
    }
    return { block, verdict, raw: await deflateInThread(JSON.stringify(json)) }
  }
  /** Returns the block with its state update, if the upstream has one; required where the hash covers it. */
  const complete = async (upstream: Upstream, fetched: L2Fetched, signal: AbortSignal | undefined) => {
    const { number, hash, stateDiff } = fetched.block
    if (stateDiff !== undefined) return fetched
    const isNeeded = verify !== undefined && lacksStateDiff(fetched.block)
    if (!isNeeded && !upstream.features.has('state updates')) return fetched
    const dialect = dialectOf(upstream)
    try {
      const whole = await dialect.withStateDiff(upstream, fetched, signal)
      if (whole || !isNeeded) return whole ?? fetched
    } catch (error) {
      if (isNeeded || !(error instanceof UpstreamRpcError)) throw error
      upstream.features.lacks('state updates')
      return fetched
    }
    // A reorg between the two requests, or a hash that the upstream itself does not know.
    const [again] = await dialect.blocks(upstream, [number!], signal)
    if (again?.block.hash === hash) throw lieOf(upstream, number, 'block hash', 'no state update has it')
    return undefined
  }
  const fetch: BlockFetcher<L2Verified>['fetch'] = async (upstream, numbers, signal) => {
    const fetched = await dialectOf(upstream).blocks(upstream, numbers, signal)
    return Promise.all(
      fetched.map(async (each) => {
        const whole = each && (await complete(upstream, each, signal))
        return whole && verifyBlock(upstream, whole)
      }),
    )
  }
  return {
    fetch,
    hashAt: async (upstream, number, signal) => {
      const [found] = await fetch(upstream, [number], signal)
      return found && encodeFelt(found.block.hash!)
    },
    headNumber: async (upstream, signal) => (await dialectOf(upstream).head(upstream, signal)).number,
    linkOf: ({ block }) => ({
      number: block.number!,
      hash: encodeFelt(block.hash!),
      parentHash: encodeFelt(block.parentHash!),
    }),
    // The parsed block uses about ten times the memory of its deflated JSON.
    sizeOf: ({ raw }) => 11 * raw.length,
  }
}

/** @throws UpstreamInvalidResponse for a block without the parts of its transactions: the commitments of its header
 *  would stand for them, and nothing would cover the parts. */
function requireWhole(upstream: Upstream, block: L2Block, isComplete: boolean): void {
  const { number, transactionHashes, transactions, receipts } = block
  if (transactionHashes.length === 0) return
  if (!transactions) throw lieOf(upstream, number, 'transactions with signatures', 'are missing')
  if (!receipts) throw lieOf(upstream, number, 'receipts', 'are missing')
  const isCovered = coversAllParts(block)
  const isPartial = receipts.some(
    ({ events, actualFee, gasConsumed }) => !events || (isCovered && (actualFee === undefined || !gasConsumed)),
  )
  if (isComplete && isPartial) throw lieOf(upstream, number, 'receipts', 'lack events, fees or gas')
}

/** True where the hash covers receipts and the state diff. */
function coversAllParts({ version }: L2Block): boolean {
  const rules = version === undefined ? undefined : hashRulesOf(version)
  return rules === 'poseidon-0' || rules === 'poseidon-1'
}

/** True where the hash covers the state diff, and the block has neither it nor its commitment. */
function lacksStateDiff(block: L2Block): boolean {
  const { commitments, counts } = block
  return coversAllParts(block) && (!commitments.stateDiffCommitment || counts.stateDiffLength === undefined)
}
