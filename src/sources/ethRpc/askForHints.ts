import { UpstreamError } from '../upstreams/errors.js'
import type { OptionalMethod } from '../upstreams/features.js'
import { linkAbort } from '../upstreams/linkedAbort.js'
import type { Pool } from '../upstreams/pool.js'
import { requestOptional } from './requestState.js'

// Without a hint more round trips are needed, no longer than this.
const HINT_MS = 2000

/** Returns the results of the healthiest upstream that has the method, asked once and within two seconds, in the order
 *  of the calls: undefined for an error, an empty list when it cannot be asked.
 *  @param params of each call */
export async function askForHints(
  pool: Pool,
  { method, params }: { method: OptionalMethod; params: readonly (readonly unknown[])[] },
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  const upstream = [pool.preferred(), ...pool.upstreams].find(
    (each) => each?.features.has(method) && pool.isAvailable(each),
  )
  if (!upstream) return []
  const linked = linkAbort(signal)
  // Not an UpstreamTimeout: a call that takes long is no failure of the upstream.
  const timer = setTimeout(() => linked.abort(new Error('too late for a hint')), HINT_MS)
  const ask = () => requestOptional(upstream, method, params, linked.signal)
  try {
    const answers = (await pool.runAt(upstream, ask, linked.signal)) ?? []
    return answers.map((answer) => ('result' in answer ? answer.result : undefined))
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof UpstreamError || linked.signal.aborted) return []
    throw error
  } finally {
    clearTimeout(timer)
    linked.release()
  }
}
