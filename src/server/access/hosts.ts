import { isLoopback } from './cors.js'

/** Which Host headers are served: all of them, or loopback names and addresses and the names listed. */
export type HostPolicy = '*' | readonly string[]

/** The policy of `--allowed-hosts`: names by comma, `*` for all. Without it, loopback only when the server listens on
 *  loopback: a web page whose name was made to resolve to 127.0.0.1 (DNS rebinding) is same-origin with the server, so the
 *  Host header is all that tells it apart. All otherwise. */
export function hostPolicy(names: string | undefined, boundHost: string): HostPolicy {
  if (names === undefined) return isLoopback(boundHost) ? [] : '*'
  const list = names
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  return list.includes('*') ? '*' : [...list, boundHost.toLowerCase()]
}

/** Tells whether a Host header is served. One that is absent is: only HTTP/1.0 clients leave it out, browsers never do. */
export function createHostCheck(policy: HostPolicy): (header: string | undefined) => boolean {
  if (policy === '*') return () => true
  // Clients send the same one again and again.
  let lastServed: string | undefined
  return (header) => {
    if (header === undefined || header === lastServed) return true
    const name = hostName(header)
    if (!isLoopback(name) && !policy.includes(name)) return false
    lastServed = header
    return true
  }
}

/** The host of a Host header in lower case, without its port, a trailing dot and the brackets of an IPv6 address. */
function hostName(header: string): string {
  return header
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}
