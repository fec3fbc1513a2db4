import { equalBytes } from '../../../lib/bytes.js'
import { UpstreamError } from './errors.js'
import { fetchHead, fetchHeader } from './fetchBlocks.js'
import { linkAbort } from './linkedAbort.js'
import type { Pool } from './pool.js'
import type { FollowedHead, UpstreamHeader } from './types.js'
import type { Upstream } from './upstream.js'

// A reorg waits so long at most for what the other upstreams say.
const ASK_MS = 2000
// So long may the upstream that is followed fail before the fork of another one is followed.
const GRACE_MS = 10_000
// So long is an upstream not asked whose head stands still.
const BEHIND_MS = 30_000

/** `EthRpc.findKeeper`. */
export async function findKeeper(
  pool: Pool,
  own: FollowedHead,
  target: UpstreamHeader,
  signal: AbortSignal | undefined,
): Promise<UpstreamHeader | 'unknown' | undefined> {
  const others = pool.upstreams.filter(({ name }) => name !== target.upstream)
  const answers = await Promise.all(others.map((each) => askKeeper(pool, each, own, target, signal)))
  signal?.throwIfAborted()
  const at = answers.findIndex((answer) => answer !== undefined)
  if (at >= 0) {
    pool.prefer(others[at])
    return answers[at]
  }
  const followed = others.find(({ name }) => name === own.upstream)
  const isBrief = followed?.health.state === 'failing' && followed.health.failingForMs < GRACE_MS
  return isBrief ? 'unknown' : undefined
}

/** The head of an upstream on whose chain the block is, and that is not behind `target`. */
function askKeeper(
  pool: Pool,
  upstream: Upstream,
  own: FollowedHead,
  target: UpstreamHeader,
  signal: AbortSignal | undefined,
): Promise<UpstreamHeader | undefined> {
  return askBriefly(pool, upstream, signal, async (brief) => {
    const held = await fetchHeader(upstream, own.number, brief)
    if (!held || !equalBytes(held.hash, own.hash)) return undefined
    const head = await fetchHead(upstream, brief)
    return head.header.number >= target.header.number ? head : undefined
  })
}

/** The highest head of the other upstreams, when it is above `head`. That upstream is asked first from now on, and the one
 *  that is behind is left alone for a while. */
export async function findLeader(
  pool: Pool,
  behind: Upstream,
  head: UpstreamHeader,
  signal: AbortSignal,
): Promise<UpstreamHeader | undefined> {
  const others = pool.upstreams.filter((each) => each !== behind)
  const heads = await Promise.all(
    others.map((each) => askBriefly(pool, each, signal, (brief) => fetchHead(each, brief))),
  )
  signal.throwIfAborted()
  const numbers = heads.map((each) => each?.header.number ?? -1)
  const highest = Math.max(...numbers)
  if (!(highest > head.header.number)) return undefined
  const at = numbers.indexOf(highest)
  behind.health.stepBack(BEHIND_MS)
  pool.prefer(others[at])
  return heads[at]
}

/** What an upstream answers within two seconds; undefined when it fails, or is not to be asked now. */
async function askBriefly<T>(
  pool: Pool,
  upstream: Upstream,
  outer: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  if (!pool.isAvailable(upstream)) return undefined
  const linked = linkAbort(outer)
  const timer = setTimeout(() => linked.abort(new Error(`no answer within ${ASK_MS} ms`)), ASK_MS)
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
