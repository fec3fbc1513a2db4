import type { ParsedAddress } from './describeUrl.js'
import { createHttpTransport } from './http.js'
import type { Transport } from './jsonRpc.js'
import type { UpstreamLimits } from './types.js'
import { createWebSocketTransport } from './websocket.js'

/** Opens the transport to an address. @param unixMs Unix time in milliseconds, for dates of HTTP headers */
export type TransportFactory = (address: ParsedAddress, limits: UpstreamLimits, unixMs: () => number) => Transport

/** JSON-RPC over HTTP or WebSocket, by the protocol of the URL. @param parse parses received texts; default:
 *  JSON.parse */
export function openJsonRpc(parse: (text: string) => unknown = JSON.parse): TransportFactory {
  return (address, limits, unixMs) =>
    address.url.protocol.startsWith('ws')
      ? createWebSocketTransport(address, limits, parse)
      : createHttpTransport(address, limits, { unixMs, parse })
}

/** JSON-RPC over HTTP or WebSocket. */
export const createTransport: TransportFactory = openJsonRpc()
