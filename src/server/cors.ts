/** Which web pages may read answers: all of them, or those of the origins listed. */
export type CorsPolicy = '*' | readonly string[]

/** A header of an answer. */
export type Header = [name: string, value: string]

/** The policy of a configuration value: origins by comma, `*` for all; without one, all when the server is bound to
 *  loopback, where only pages that its own user opened can reach it, and none otherwise. */
export function corsPolicy(origins: string | undefined, host: string): CorsPolicy {
  if (origins === undefined) return isLoopback(host) ? '*' : []
  const list = origins
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
  return list.includes('*') ? '*' : list
}

/** Headers of every answer to a request from `origin`. */
export function corsHeaders(policy: CorsPolicy, origin: string | undefined): Header[] {
  if (policy === '*')
    return [
      ['Access-Control-Allow-Origin', '*'],
      ['Access-Control-Expose-Headers', 'Retry-After'],
    ]
  if (policy.length === 0) return []
  if (origin === undefined || !policy.includes(origin)) return [['Vary', 'Origin']]
  return [
    ['Vary', 'Origin'],
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', 'Retry-After'],
  ]
}

/** Headers of an answer to OPTIONS. Without an allowed origin the browser stops whatever they say. */
export function preflightHeaders(requestedHeaders: string | undefined): Header[] {
  return [
    ['Access-Control-Allow-Methods', 'POST, GET, OPTIONS'],
    ['Access-Control-Allow-Headers', requestedHeaders ?? 'Content-Type'],
    ['Access-Control-Max-Age', '86400'],
  ]
}

/** True for a host that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
