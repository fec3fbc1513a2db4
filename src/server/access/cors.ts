/** Origins whose pages may read responses: all, those served by this machine (`loopback`), or those listed. */
export type CorsPolicy = '*' | 'loopback' | readonly string[]

/** A response header. */
export type ResponseHeader = [name: string, value: string]

/** The policy of `--cors`: a comma-separated list of origins, or `*` for all. Default: an open server on loopback
 *  allows pages from localhost and loopback addresses, for developers; any other server allows none. */
export function corsPolicy(origins: string | undefined, server: { host: string; open: boolean }): CorsPolicy {
  if (origins === undefined) return server.open && isLoopback(server.host) ? 'loopback' : []
  const list = origins
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
  return list.includes('*') ? '*' : list
}

/** True when pages of the origin may read responses. */
export function isAllowedOrigin(policy: CorsPolicy, origin: string): boolean {
  if (policy === '*') return true
  if (policy !== 'loopback') return policy.includes(origin)
  const host = /^https?:\/\/(\[[\da-f:]+\]|[\w.-]+)(?::\d{1,5})?$/.exec(origin)?.[1]
  return host !== undefined && isLoopback(host.replace(/[[\]]/g, ''))
}

/** Response headers that pages may read besides the usual ones. */
const EXPOSED: ResponseHeader = ['Access-Control-Expose-Headers', 'Retry-After, Cairn-Head']

/** CORS headers of every response to a request from `origin`. */
export function corsHeaders(policy: CorsPolicy, origin: string | undefined): ResponseHeader[] {
  if (policy === '*') return [['Access-Control-Allow-Origin', '*'], EXPOSED]
  if (policy.length === 0) return []
  if (origin === undefined || !isAllowedOrigin(policy, origin)) return [['Vary', 'Origin']]
  return [['Vary', 'Origin'], ['Access-Control-Allow-Origin', origin], EXPOSED]
}

/** CORS headers of the response to OPTIONS. Without an allowed origin the browser blocks the request anyway. */
export function preflightHeaders(requestedHeaders: string | undefined): ResponseHeader[] {
  return [
    ['Access-Control-Allow-Methods', 'POST, GET, OPTIONS'],
    ['Access-Control-Allow-Headers', requestedHeaders ?? 'Content-Type'],
    ['Access-Control-Max-Age', '86400'],
  ]
}

/** True for a loopback host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
