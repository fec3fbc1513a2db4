import { type Access, type Caller, isRefusal } from '../access/access.js'
import type { ServerLimits } from '../admission/limits.js'
import type { PlainTimeouts } from '../plain/plainConnection.js'
import type { PlainHandler } from '../plain/plainRequest.js'
import { callPathOfStream } from '../stream/streamPath.js'
import { checkContentHeaders } from './contentHeaders.js'

/* Rules of plain requests, the same on the main thread and in acceptor threads. */

/** Idle time of a connection. Longer than that of common proxies: the proxy closes first and never writes to a closed
 *  connection. */
export const IDLE_MS = 75_000

/** From the start of a request to its last byte. */
export const REQUEST_MS = 60_000

/** Timeouts of plain connections: the same as those of Node's parser. */
export function plainTimeouts({ bodyStallMs, bodyLeastBytes }: ServerLimits): PlainTimeouts {
  return { idleMs: IDLE_MS, requestMs: REQUEST_MS, stallMs: bodyStallMs, leastBytes: bodyLeastBytes }
}

/** Returns the caller of a plain request: undefined unless the caller is known and the request has a valid content
 *  type, and is none of a stream of rows. */
export function createPlainAdmit({
  access,
  isServedHost,
  hasStreams,
}: {
  access: Access
  isServedHost(host: string | undefined): boolean
  hasStreams: boolean
}): PlainHandler<Caller>['admit'] {
  return ({ host, contentType, path, authorization, apiKey }, remoteAddress) => {
    if (!isServedHost(host) || checkContentHeaders(contentType, undefined) !== undefined) return undefined
    if (hasStreams && callPathOfStream(path) !== undefined) return undefined
    const caller = access.identify({ path, authorization, apiKey, remoteAddress }, '/v3')
    return caller === undefined || isRefusal(caller) ? undefined : caller
  }
}
