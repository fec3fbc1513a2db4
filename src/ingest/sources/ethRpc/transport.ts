import type { ParsedAddress } from './describeUrl.js'
import { createHttpTransport } from './http.js'
import type { Transport } from './jsonRpc.js'
import type { EthRpcLimits } from './types.js'
import { createWebSocketTransport } from './websocket.js'

/** A transport to the address, by its protocol; not connected yet.
 *  @param unixMs the clock that dates in Retry-After are compared with */
export function createTransport(address: ParsedAddress, limits: EthRpcLimits, unixMs: () => number): Transport {
  return address.url.protocol.startsWith('ws')
    ? createWebSocketTransport(address, limits)
    : createHttpTransport(address, limits, unixMs)
}
