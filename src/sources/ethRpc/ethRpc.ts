import { familyOf } from '../../chain/eth/families/families.js'
import type { Block } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { SendersAhead } from '../senders/sendersAhead.js'
import type { RawBlock } from '../source.js'
import { systemClock } from '../upstreams/clock.js'
import { suffixesOf } from '../upstreams/describeUrl.js'
import { UpstreamInvalidResponse, WrongChain } from '../upstreams/errors.js'
import type { HeadFeed } from '../upstreams/headFeed.js'
import { Pool } from '../upstreams/pool.js'
import { prefetchBlocks } from '../upstreams/prefetch.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamRange } from '../upstreams/types.js'
import { Upstream } from '../upstreams/upstream.js'
import { watchHeads } from '../upstreams/watchHeads.js'
import { decodeHeaderJson } from './blockJson.js'
import { createChainFetcher } from './chainFetcher.js'
import { checked } from './checked.js'
import { describeId, fetchBlocks, fetchHash, fetchHead, fetchHeader } from './fetchBlocks.js'
import { fetchPending } from './fetchPending.js'
import { readFields } from './fields.js'
import { findUpstreamOnFork } from './findUpstreamOnFork.js'
import type { EthRpc, EthRpcOptions, UpstreamBlockId, UpstreamHeader } from './types.js'
import { createUpstreamState } from './upstreamState.js'

/** Kind of the source in messages and reports. */
export const ETH_RPC = 'upstream'

/** Opens upstream nodes of one chain, without connecting yet. @throws UsageError for an address that cannot be used. */
export function openEthRpc(options: EthRpcOptions): EthRpc {
  const { log, spec, clock = systemClock, random = Math.random, withReceipts = false } = options
  const limits = { ...DEFAULT_UPSTREAM_LIMITS, ...options.limits }
  const suffixes = suffixesOf(options.upstreams.map(({ url }) => url))
  const upstreams = options.upstreams.map(
    (address, i) => new Upstream(address, { limits, clock, random, log, spec, suffix: suffixes[i] }),
  )
  const checkChain = (upstream: Upstream, signal: AbortSignal | undefined) => requireChain(upstream, options, signal)
  const pool = new Pool(upstreams, { checkChain, log, clock, maxFailures: options.maxFailures })
  const origins = new WeakMap<Block, Upstream>()
  const onOrigin = (raw: RawBlock, upstream: Upstream) => void origins.set(raw.block, upstream)
  const prefetch = { pool, limits, log, clock }
  const header = (id: UpstreamBlockId, signal?: AbortSignal) =>
    pool.find(describeId(id), (upstream) => fetchHeader(upstream, id, signal), signal)
  const blocks = async function* (range: UpstreamRange) {
    const { withReceipts: hasReceipts = withReceipts, withAccessLists } = range
    const ahead = new SendersAhead(options.senderRecovery)
    const fetcher = createChainFetcher({ withReceipts: hasReceipts, withAccessLists, ahead })
    for await (const { block: raw, upstream } of prefetchBlocks(range, { ...prefetch, fetcher })) {
      const isFirst = raw.block.header.number === range.from
      if (isFirst && withReceipts) raw.totalDifficulty = await readTotalDifficulty(pool, raw, range.signal)
      onOrigin(raw, upstream)
      yield raw
    }
  }

  return {
    ...createUpstreamState(pool),
    start: (signal) => pool.checkAll(signal),
    head: (signal) => pool.run((upstream) => fetchHead(upstream, signal), signal),
    taggedHeader: header,
    headerByNumber: header,
    headerByHash: header,
    getBlock: (id, signal, receipts = withReceipts) =>
      pool.find(
        describeId(id),
        async (upstream) => {
          const [raw] = await fetchBlocks(upstream, [id], { withReceipts: receipts, signal })
          if (raw) onOrigin(raw, upstream)
          return raw
        },
        signal,
      ),
    blocks,
    source: (range = {}) => ({
      kind: ETH_RPC,
      path: upstreams.map(({ name }) => name).join(', '),
      blocks: ({ from = 0 } = {}) => blocks({ ...range, from }),
    }),
    watchHeads: (onHead, signal) => watchHeads({ pool, feed: HEADS, log, clock }, onHead, signal),
    pendingBlock: (signal) => pool.run((upstream) => fetchPending(upstream, log, signal), signal),
    findUpstreamOnFork: (own, target, signal) => findUpstreamOnFork(pool, own, target, signal),
    reportInvalid: ({ block }, { check, message }) => {
      const upstream = origins.get(block)
      if (!upstream) return
      const blockNumber = block.header.number
      pool.quarantine(upstream, new UpstreamInvalidResponse(upstream.name, { check, problem: message, blockNumber }))
    },
    status: () => pool.status(),
    stall: () => pool.stall(),
    progressed: () => pool.progressed(),
    close: () => pool.close(),
  }
}

/** The heads of `eth_subscribe`. */
const HEADS: HeadFeed<UpstreamHeader> = {
  fetch: fetchHead,
  subscription: { subscribe: 'eth_subscribe', params: ['newHeads'], unsubscribe: 'eth_unsubscribe' },
  read: (upstream, result) => ({
    ...checked(upstream, undefined, () => decodeHeaderJson(result, upstream.spec, 'newHeads')),
    upstream: upstream.name,
  }),
  timeOf: ({ header }) => header,
}

/** Compares the chain of an upstream with the expected one. @throws WrongChain when chain id or genesis hash differ;
 *  UpstreamError */
export async function requireChain(
  upstream: Upstream,
  { chainId, genesisHash, spec }: Pick<EthRpcOptions, 'chainId' | 'genesisHash' | 'spec'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const result = await upstream.call('eth_chainId', [], signal)
  const actual = checked(upstream, undefined, () => readFields({ chainId: result }, 'eth_chainId').quantity('chainId'))
  if (actual !== chainId) throw new WrongChain(upstream.name, 'chain id', String(chainId), String(actual))
  const found = familyOf(spec).hasOtherGenesis
    ? await fetchHash(upstream, 0, signal)
    : (await fetchHeader(upstream, 0, signal))?.hash
  if (found && !equalBytes(found, genesisHash)) {
    throw new WrongChain(upstream.name, 'genesis hash', formatData(genesisHash), formatData(found))
  }
}

/** Returns the total difficulty including the block, where an upstream reports it; of block 0 its difficulty. */
async function readTotalDifficulty(pool: Pool, { block }: RawBlock, signal?: AbortSignal): Promise<bigint | undefined> {
  if (block.header.number === 0) return block.header.difficulty
  const header = await pool.run((upstream) => fetchHeader(upstream, block.hash, signal), signal)
  return header?.totalDifficulty
}
