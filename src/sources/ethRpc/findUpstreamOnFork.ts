import { equalBytes } from '../../lib/bytes.js'
import { askBriefly } from '../upstreams/askOthers.js'
import type { Pool } from '../upstreams/pool.js'
import type { Upstream } from '../upstreams/upstream.js'
import { fetchHead, fetchHeader } from './fetchBlocks.js'
import type { FollowedHead, UpstreamHeader } from './types.js'

// The followed upstream may fail for this time before another one's fork is followed.
const GRACE_MS = 10_000

/** Implements `EthRpc.findUpstreamOnFork`. */
export async function findUpstreamOnFork(
  pool: Pool,
  own: FollowedHead,
  target: UpstreamHeader,
  signal: AbortSignal | undefined,
): Promise<UpstreamHeader | 'unknown' | undefined> {
  const others = pool.upstreams.filter(({ name }) => name !== target.upstream)
  const answers = await Promise.all(others.map((each) => askKeeper(pool, each, own, target, signal)))
  signal?.throwIfAborted()
  const at = answers.findIndex((answer) => typeof answer === 'object')
  if (at >= 0) {
    pool.prefer(others[at])
    return answers[at]
  }
  return answers[others.findIndex(({ name }) => name === own.upstream)]
}

/** Returns the head of an upstream whose chain has the block and is not behind `target`; `unknown` when it did not
 *  answer, and has failed only briefly. */
async function askKeeper(
  pool: Pool,
  upstream: Upstream,
  own: FollowedHead,
  target: UpstreamHeader,
  signal: AbortSignal | undefined,
): Promise<UpstreamHeader | 'unknown' | undefined> {
  const answer = await askBriefly(pool, upstream, signal, async (brief) => {
    const held = await fetchHeader(upstream, own.number, brief)
    if (!held || !equalBytes(held.hash, own.hash)) return {}
    const head = await fetchHead(upstream, brief)
    return head.header.number >= target.header.number ? { head } : {}
  })
  if (answer) return answer.head
  // Read only now: it may have recovered by the time slower upstreams have answered.
  const { state, failingForMs } = upstream.health
  return state === 'failing' && failingForMs < GRACE_MS ? 'unknown' : undefined
}
