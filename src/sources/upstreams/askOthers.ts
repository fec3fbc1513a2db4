import { UpstreamError, UpstreamTimeout } from './errors.js'
import type { HeadFeed } from './headFeed.js'
import { linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { Upstream } from './upstream.js'

// A reorg waits so long at most for what the other upstreams say.
const ASK_MS = 2000
// So long is an upstream not asked whose head stands still.
const BEHIND_MS = 30_000

/** An upstream and its head. */
interface HeadOf<H> {
  readonly upstream: Upstream
  readonly head: H
}

/** The highest head of the other upstreams, when it is above that of `behind`. That upstream is asked first from now on, and the
 *  one that is behind is left alone for a while. */
export async function findLeader<H extends { readonly hash: Uint8Array }>(
  pool: Pool,
  feed: HeadFeed<H>,
  behind: HeadOf<H>,
  signal: AbortSignal,
): Promise<HeadOf<H> | undefined> {
  const others = pool.upstreams.filter((each) => each !== behind.upstream)
  const heads = await Promise.all(
    others.map((each) => askBriefly(pool, each, signal, (brief) => feed.fetch(each, brief))),
  )
  signal.throwIfAborted()
  const numbers = heads.map((each) => (each ? feed.timeOf(each).number : -1))
  const highest = Math.max(...numbers)
  if (!(highest > feed.timeOf(behind.head).number)) return undefined
  const at = numbers.indexOf(highest)
  behind.upstream.health.stepBack(BEHIND_MS)
  pool.prefer(others[at])
  return { upstream: others[at], head: heads[at]! }
}

/** What an upstream answers within two seconds; undefined when it fails, which a late answer counts as, or is not to be asked
 *  now. */
export async function askBriefly<T>(
  pool: Pool,
  upstream: Upstream,
  outer: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  if (!pool.isAvailable(upstream)) return undefined
  const linked = linkAbort(outer)
  const timer = setTimeout(() => linked.abort(new UpstreamTimeout(upstream.name, ASK_MS)), ASK_MS)
  try {
    return await pool.runAt(upstream, () => task(linked.signal), linked.signal)
  } catch (error) {
    if (error instanceof UpstreamError || linked.signal.aborted) return undefined
    throw error
  } finally {
    clearTimeout(timer)
    linked.release()
  }
}
