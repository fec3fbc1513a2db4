import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import type { BlockFetcher, FetchedBlock } from './blockFetcher.js'
import type { Clock } from './clock.js'
import { ChainReorganized, UpstreamError, UpstreamInvalidResponse, UpstreamLacksData } from './errors.js'
import { FetchWindow } from './fetchWindow.js'
import { linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { UpstreamLimits, UpstreamRange } from './types.js'
import type { Upstream } from './upstream.js'

interface PrefetchOptions<B> {
  pool: Pool
  fetcher: BlockFetcher<B>
  limits: UpstreamLimits
  log: Logger
  clock: Clock
}

// Without an end, interval of asking for the head once all blocks up to it were fetched.
const HEAD_POLL_MS = 1000

/** Yields blocks in order, each linked to the previous one, prefetched within the limits.
 *  @throws ChainReorganized when the next block of every upstream has another parent; the reason of the signal. */
export async function* prefetchBlocks<B>(
  { from, to, parentHash, signal: outer }: UpstreamRange,
  options: PrefetchOptions<B>,
): AsyncGenerator<FetchedBlock<B>> {
  const linked = linkAbort(outer)
  const { signal } = linked
  let last = to ?? from - 1
  const { pool, clock, fetcher } = options
  const window = new FetchWindow({ ...options, from, last: () => last, signal })
  const waitForHead = async (blockNumber: number) => {
    while (last < blockNumber) {
      last = Math.max(last, await pool.run((upstream) => fetcher.headNumber(upstream, signal), signal))
      if (last < blockNumber) await clock.sleep(HEAD_POLL_MS, signal)
    }
  }
  let parent = parentHash
  try {
    for (let blockNumber = from; to === undefined || blockNumber <= to; blockNumber++) {
      await waitForHead(blockNumber)
      let fetched = await window.take(blockNumber)
      while (parent && !linksTo(fetcher, fetched.block, parent)) {
        window.reset(blockNumber)
        const other = await findLink(options, fetched, parent, signal)
        if (other) window.reset(blockNumber + 1)
        fetched = other ?? (await window.take(blockNumber))
      }
      yield fetched
      parent = fetcher.linkOf(fetched.block).hash
    }
  } finally {
    linked.abort(new Error('the iteration ended'))
    linked.release()
  }
}

function linksTo<B>(fetcher: BlockFetcher<B>, block: B, parent: Uint8Array): boolean {
  return equalBytes(fetcher.linkOf(block).parentHash, parent)
}

/** Returns a replacement for a block that does not link to `parent`. Undefined when it is to be fetched again: its
 *  upstream failed, or was quarantined because it calls `parent` canonical, too.
 *  @throws ChainReorganized when its upstream has another block before it, and no other upstream has one that links. */
async function findLink<B>(
  { pool, fetcher }: PrefetchOptions<B>,
  fetched: FetchedBlock<B>,
  parent: Uint8Array,
  signal: AbortSignal,
): Promise<FetchedBlock<B> | undefined> {
  const { upstream } = fetched
  const blockNumber = fetcher.linkOf(fetched.block).number
  const ask = async (asked: Upstream): Promise<B | undefined> => {
    const [block] = await fetcher.fetch(asked, [blockNumber], signal)
    if (!block) throw new UpstreamLacksData(asked.name, `block ${blockNumber}`)
    if (linksTo(fetcher, block, parent)) return block
    const before = await fetcher.hashAt(asked, blockNumber - 1, signal)
    if (!before || !equalBytes(before, parent)) return undefined
    const problem = `expected ${formatData(parent)}, got ${formatData(fetcher.linkOf(block).parentHash)}`
    throw new UpstreamInvalidResponse(asked.name, { check: 'parent hash', problem, blockNumber })
  }
  // The block's own upstream is first: it may have been reorganized between two requests.
  let failed = false
  for (const each of [upstream, ...pool.upstreams.filter((other) => other !== upstream)]) {
    if (each !== upstream && !isAvailable(each)) continue
    try {
      const block = await pool.runAt(each, ask, signal)
      if (!block) continue
      pool.prefer(each)
      return { block, upstream: each }
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
