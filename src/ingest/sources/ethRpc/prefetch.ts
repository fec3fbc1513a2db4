import { equalBytes } from '../../../lib/bytes.js'
import { formatData } from '../../../lib/hex.js'
import type { Logger } from '../../../lib/logger.js'
import type { RawBlock } from '../../source.js'
import type { Clock } from './clock.js'
import { ChainReorganized, NotHeldUpstream, UpstreamError, UpstreamLied } from './errors.js'
import { fetchBlocks, fetchHeader } from './fetchBlocks.js'
import { createFetchWindow, type FetchedBlock } from './fetchWindow.js'
import { linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { EthRpcLimits, UpstreamRange } from './types.js'
import type { Upstream } from './upstream.js'

export interface PrefetchOptions {
  pool: Pool
  withReceipts: boolean
  limits: EthRpcLimits
  log: Logger
  clock: Clock
  /** Told where each block came from, before it is yielded. */
  onOrigin(raw: RawBlock, upstream: Upstream): void
}

// Without an end, this often the head is asked for once all blocks up to it are there.
const HEAD_POLL_MS = 1000

/** The blocks of `EthRpc.blocks`. */
export async function* prefetchBlocks(
  { from, to, parentHash, signal: outer }: UpstreamRange,
  options: PrefetchOptions,
): AsyncGenerator<RawBlock> {
  const linked = linkAbort(outer)
  const { signal } = linked
  let last = to ?? from - 1
  const { pool, clock, withReceipts } = options
  const window = createFetchWindow({ ...options, from, last: () => last, signal })
  const waitForHead = async (blockNumber: number) => {
    while (last < blockNumber) {
      const head = await pool.run((upstream) => fetchHeader(upstream, 'latest', signal), signal)
      last = Math.max(last, head?.header.number ?? -1)
      if (last < blockNumber) await clock.sleep(HEAD_POLL_MS, signal)
    }
  }
  let parent = parentHash
  try {
    for (let blockNumber = from; to === undefined || blockNumber <= to; blockNumber++) {
      await waitForHead(blockNumber)
      let fetched = await window.take(blockNumber)
      while (parent && !linksTo(fetched.raw, parent)) {
        window.reset(blockNumber)
        const other = await findLink(pool, fetched, parent, { withReceipts, signal })
        if (other) window.reset(blockNumber + 1)
        fetched = other ?? (await window.take(blockNumber))
      }
      const { raw, upstream } = fetched
      if (blockNumber === from && withReceipts) raw.totalDifficulty = await readTotalDifficulty(pool, raw, signal)
      options.onOrigin(raw, upstream)
      yield raw
      parent = raw.block.hash
    }
  } finally {
    linked.abort(new Error('the iteration ended'))
    linked.release()
  }
}

function linksTo({ block }: RawBlock, parent: Uint8Array): boolean {
  return equalBytes(block.header.parentHash, parent)
}

/** The block in place of one that does not link to `parent`. Undefined when it is to be asked for again: its upstream failed, or
 *  was put aside because it calls `parent` canonical, too.
 *  @throws ChainReorganized when its upstream has another block before it, and no other upstream has one that links. */
async function findLink(
  pool: Pool,
  { raw, upstream }: FetchedBlock,
  parent: Uint8Array,
  { withReceipts, signal }: { withReceipts: boolean; signal: AbortSignal },
): Promise<FetchedBlock | undefined> {
  const blockNumber = raw.block.header.number
  const ask = async (asked: Upstream): Promise<RawBlock | undefined> => {
    const [block] = await fetchBlocks(asked, [blockNumber], { withReceipts, signal })
    if (!block) throw new NotHeldUpstream(asked.name, `block ${blockNumber}`)
    if (linksTo(block, parent)) return block
    const before = await fetchHeader(asked, blockNumber - 1, signal)
    if (!before || !equalBytes(before.hash, parent)) return undefined
    const problem = `expected ${formatData(parent)}, got ${formatData(block.block.header.parentHash)}`
    throw new UpstreamLied(asked.name, { check: 'parent hash', problem, blockNumber })
  }
  // The block's own upstream comes first: it may have been reorganized between two requests.
  let failed = false
  for (const each of [upstream, ...pool.upstreams.filter((other) => other !== upstream)]) {
    if (each !== upstream && !isAvailable(each)) continue
    try {
      const block = await pool.runAt(each, ask, signal)
      if (!block) continue
      pool.prefer(each)
      return { raw: block, upstream: each }
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      failed ||= each === upstream
    }
  }
  if (failed) return undefined
  throw new ChainReorganized(blockNumber, parent)
}

function isAvailable({ health }: Upstream): boolean {
  return health.state === 'ok'
}

/** Of the chain up to and with the block, where an upstream says it; of block 0 its difficulty. */
async function readTotalDifficulty(pool: Pool, { block }: RawBlock, signal: AbortSignal): Promise<bigint | undefined> {
  if (block.header.number === 0) return block.header.difficulty
  const header = await pool.run((upstream) => fetchHeader(upstream, block.hash, signal), signal)
  return header?.totalDifficulty
}
