import { UpstreamHttpStatus, UpstreamRpcError } from './errors.js'
import { isNotFound, type OptionalMethod } from './features.js'
import type { RpcAnswer } from './jsonRpc.js'
import type { Upstream } from './upstream.js'

/** Returns results of a method that not every node has, in the order of `params`, `null` for what is not found;
 *  undefined when the upstream lacks the method, which is remembered. @throws UpstreamError */
export async function askOptional(
  upstream: Upstream,
  method: OptionalMethod,
  params: readonly unknown[][],
  signal: AbortSignal | undefined,
): Promise<unknown[] | undefined> {
  if (!upstream.features.has(method)) return undefined
  let answers: RpcAnswer[]
  try {
    answers = await upstream.request(
      params.map((each) => ({ method, params: each })),
      signal,
    )
  } catch (error) {
    // Some providers refuse whole namespaces with 401 to 405.
    if (!(error instanceof UpstreamHttpStatus) || error.status < 400 || error.status >= 500) throw error
    upstream.features.lacks(method)
    return undefined
  }
  const results: unknown[] = []
  for (const answer of answers) {
    try {
      results.push(upstream.resultOf(method, answer))
    } catch (error) {
      if (!(error instanceof UpstreamRpcError)) throw error
      if (!isNotFound(error)) {
        upstream.features.lacks(method)
        return undefined
      }
      results.push(null)
    }
  }
  return results
}
