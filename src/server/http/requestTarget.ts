import type { IncomingMessage } from 'node:http'

/** A request target in absolute form (RFC 9112, section 3.2.2): the authority without user information, and the path
 *  with the query. */
const ABSOLUTE_FORM = /^https?:\/\/(?:[^/?#@]*@)?([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i

/** Rewrites a request target in absolute form to its path. Its authority replaces the Host header, as RFC 9112, section
 *  3.2.2, requires of an origin server: the check of hosts must see the host that the client requested. */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/' } = request
  if (url.startsWith('/')) return
  const match = ABSOLUTE_FORM.exec(url)
  if (match === null) return
  const [, authority, path = '/'] = match
  request.url = path.startsWith('?') ? `/${path}` : path
  request.headers.host = authority
}

/** True for a request that asks to become a WebSocket: HTTP/1.1, GET (RFC 6455, section 4.1), `websocket` among its
 *  offers. A server answers a request with any other offer, such as `h2c` of Java's HttpClient and `curl --http2`, as
 *  if it had none (RFC 9110, section 7.8). */
export function offersWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersion !== '1.1') return false
  return (headers.upgrade ?? '').split(',').some((offer) => offer.trim().toLowerCase() === 'websocket')
}
