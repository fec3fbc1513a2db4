import type { Block } from '../../../chain/eth/types.js'
import type { RawBlock } from '../../source.js'
import { findKeeper } from './askOthers.js'
import { systemClock } from './clock.js'
import { describeUrl } from './describeUrl.js'
import { NotHeldUpstream, UpstreamLied } from './errors.js'
import { describeId, fetchBlocks, fetchHead, fetchHeader } from './fetchBlocks.js'
import { fetchPending } from './fetchPending.js'
import { createPool, type Pool } from './pool.js'
import { prefetchBlocks } from './prefetch.js'
import {
  DEFAULT_ETH_RPC_LIMITS,
  type EthRpc,
  type EthRpcOptions,
  type UpstreamBlockId,
  type UpstreamHeader,
  type UpstreamStatus,
} from './types.js'
import { createUpstream, type Upstream } from './upstream.js'
import { watchHeads } from './watchHeads.js'

/** Kind of the source in messages and reports. */
export const ETH_RPC = 'upstream'

/** Upstream nodes of one chain, not connected yet. @throws UsageError for an address that cannot be used. */
export function openEthRpc(options: EthRpcOptions): EthRpc {
  const { log, clock = systemClock, random = Math.random, withReceipts = false } = options
  const limits = { ...DEFAULT_ETH_RPC_LIMITS, ...options.limits }
  const suffixes = suffixesOf(options.upstreams.map(({ url }) => describeUrl(url)))
  const upstreams = options.upstreams.map((address, i) =>
    createUpstream(address, { limits, clock, random, log, suffix: suffixes[i] }),
  )
  const pool = createPool(upstreams, { ...options, clock })
  const origins = new WeakMap<Block, Upstream>()
  const onOrigin = (raw: RawBlock, upstream: Upstream) => void origins.set(raw.block, upstream)
  const prefetch = { pool, withReceipts, limits, log, clock, onOrigin }
  const header = (id: UpstreamBlockId, signal?: AbortSignal) => findHeader(pool, id, signal)

  return {
    start: pool.checkAll,
    head: (signal) => pool.run((upstream) => fetchHead(upstream, signal), signal),
    taggedHeader: header,
    headerByNumber: header,
    headerByHash: header,
    getBlock: (id, signal) =>
      orUndefined(
        pool.run(async (upstream) => {
          const [raw] = await fetchBlocks(upstream, [id], { withReceipts, signal })
          if (!raw) throw new NotHeldUpstream(upstream.name, describeId(id))
          onOrigin(raw, upstream)
          return raw
        }, signal),
      ),
    blocks: (range) => prefetchBlocks(range, prefetch),
    source: (range = {}) => ({
      kind: ETH_RPC,
      path: upstreams.map(({ name }) => name).join(', '),
      blocks: ({ from = 0 } = {}) => prefetchBlocks({ ...range, from }, prefetch),
    }),
    watchHeads: (onHead, signal) => watchHeads({ pool, log, clock }, onHead, signal),
    pendingBlock: (signal) => pool.run((upstream) => fetchPending(upstream, log, signal), signal),
    findKeeper: (own, target, signal) => findKeeper(pool, own, target, signal),
    reportInvalid: ({ block }, { check, message }) => {
      const upstream = origins.get(block)
      if (!upstream) return
      const blockNumber = block.header.number
      pool.quarantine(upstream, new UpstreamLied(upstream.name, { check, problem: message, blockNumber }))
    },
    status: () => upstreams.map((upstream) => statusOf(upstream, clock.nowMs())),
    close: pool.close,
  }
}

function findHeader(pool: Pool, id: UpstreamBlockId, signal?: AbortSignal): Promise<UpstreamHeader | undefined> {
  return orUndefined(
    pool.run(async (upstream) => {
      const found = await fetchHeader(upstream, id, signal)
      if (!found) throw new NotHeldUpstream(upstream.name, describeId(id))
      return found
    }, signal),
  )
}

async function orUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof NotHeldUpstream) return undefined
    throw error
  }
}

/** ` #2` and so on for names that came before; empty for others. */
function suffixesOf(names: readonly string[]): string[] {
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((other) => other === name).length
    return before === 0 ? '' : ` #${before + 1}`
  })
}

function statusOf({ name, health, limits }: Upstream, nowMs: number): UpstreamStatus {
  const { state, failures, lies, latencyMs, availableAtMs } = health
  const { concurrency, batchSize } = limits
  const retryInMs = Math.max(0, availableAtMs - nowMs)
  return { upstream: name, state, retryInMs, concurrency, batchSize, latencyMs, failures, lies }
}
