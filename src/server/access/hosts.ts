import { isLoopback } from './cors.js'

/** Accepted Host headers: all, or loopback names and addresses plus the names listed. */
export type HostPolicy = '*' | readonly string[]

/** The policy of `--allowed-hosts`: a comma-separated list of names, or `*` for all. Default: loopback names only when
 *  the server listens on loopback, else all. A page whose name resolves to 127.0.0.1 (DNS rebinding) is same-origin
 *  with the server; only the Host header distinguishes it. */
export function hostPolicy(names: string | undefined, boundHost: string): HostPolicy {
  if (names === undefined) return isLoopback(boundHost) ? [] : '*'
  const list = names
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  return list.includes('*') ? '*' : [...list, boundHost.toLowerCase()]
}

/** Tests a Host header. A missing header is accepted: only HTTP/1.0 clients omit it, browsers never do. */
export function createHostCheck(policy: HostPolicy): (header: string | undefined) => boolean {
  if (policy === '*') return () => true
  // Clients repeat the same header, so the last accepted one is cached.
  let lastServed: string | undefined
  return (header) => {
    if (header === undefined || header === lastServed) return true
    const name = hostName(header)
    if (!isLoopback(name) && !policy.includes(name)) return false
    lastServed = header
    return true
  }
}

/** The host of a Host header in lower case, without port, trailing dot and IPv6 brackets. */
function hostName(header: string): string {
  return header
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1')
}
