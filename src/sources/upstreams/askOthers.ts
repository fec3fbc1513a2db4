import { UpstreamError, UpstreamTimeout } from './errors.js'
import type { HeadFeed } from './headFeed.js'
import { linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { Upstream } from './upstream.js'

// A reorg waits at most this long for the other upstreams' answers.
const ASK_MS = 2000
// An upstream whose head is stuck is not asked for this time.
const BEHIND_MS = 30_000

/** An upstream and its head. */
interface HeadOf<H> {
  readonly upstream: Upstream
  readonly head: H
}

/** Returns the highest head of the other upstreams, when it is above that of `behind`. Prefers its upstream from now
 *  on, and skips the one that is behind for a while. */
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

/** Returns what an upstream answers within two seconds; undefined when it fails, answers too late, or is not to be
 *  asked now. */
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
