import type { ServerResponse } from 'node:http'
import { CairnError } from '../../lib/errors.js'
import { abbreviate, parseHex } from '../../lib/hex.js'
import { type Access, type Caller, isRefusal, type Refusal, retryHeaders } from '../../server/access/access.js'
import type { RefusalReason } from '../../server/admission/refusals.js'
import type { StreamEndpoint } from '../../server/exchange.js'
import { sendJsonError } from '../../server/http/jsonError.js'
import type { BlockRef } from '../../sync/head/events.js'
import type { ReplicationFeed, StreamStart } from './feed.js'
import type { ReplicationLimits } from './replicationLimits.js'

/** Answers `GET /replication/<KEY>`. */
export interface ReplicationEndpoint extends StreamEndpoint {
  /** Ends the streams of revoked keys. */
  endRevoked(): void
  /** Ends all streams. */
  close(): void
}

/** Name of streams among the methods of a key. */
const LIMITED_AS = 'replication'

const CONTENT_TYPE = 'application/vnd.cairn.replication'

const MAX_LOCATOR = 32
/** The status for a replica that needs what is not available any more. */
const GONE = 410

/** A query that names no valid start. */
class BadStart extends CairnError {}

/** Creates the endpoint over a feed. */
export function createReplicationEndpoint(options: {
  feed: ReplicationFeed
  limits: ReplicationLimits
  access: Access
  count(reason: RefusalReason): void
}): ReplicationEndpoint {
  const { feed, limits, access, count } = options
  /** The function that ends each stream, and its caller. */
  const open = new Map<() => void, Caller>()
  const refuse = (response: ServerResponse, refusal: Refusal) => {
    count(refusal.reason)
    sendError(response, refusal.status, refusal.error.message, retryHeaders(refusal))
  }
  const start = (response: ServerResponse, caller: Caller, begin: StreamStart) => {
    const end = () => {
      if (!open.delete(end)) return
      clearTimeout(timer)
      closeStream()
      if (response.headersSent) response.end()
      else sendError(response, 503, 'the server stops', ['Retry-After', '1'])
    }
    let timer: NodeJS.Timeout | undefined
    open.set(end, caller)
    response.on('close', end)
    const closeStream = feed.open(begin, {
      frames: (bytes, taken) => {
        if (!access.isLive(caller)) return end()
        if (!response.headersSent) {
          timer = setTimeout(end, limits.streamMs)
          response.writeHead(200, [
            'Content-Type',
            CONTENT_TYPE,
            'Cache-Control',
            'no-store',
            'X-Accel-Buffering',
            'no',
          ])
        }
        // Called when the kernel has the bytes: a client that does not read gets no more, and the rule for all
        // connections eventually disconnects it.
        response.write(bytes, () => taken())
      },
      end: ({ problem, isGap }) => {
        if (!response.headersSent) sendError(response, isGap ? GONE : 409, problem)
        end()
      },
    })
  }
  return {
    handle({ request, response, caller }) {
      if (isRefusal(caller)) return refuse(response, access.countRefusal(caller, request.socket.remoteAddress))
      if (request.method !== 'GET') {
        return sendError(response, 405, 'method not allowed, use GET', ['Allow', 'GET'])
      }
      const refusal = access.refuse(caller, 1)
      if (refusal !== undefined) return refuse(response, refusal)
      if (access.exclude(caller, LIMITED_AS) !== undefined) {
        return sendError(response, 403, `this API key may not replicate: its methods do not include ${LIMITED_AS}`)
      }
      if (open.size >= limits.streams) {
        count('in_flight')
        return sendError(response, 503, `${limits.streams} replicas are connected already; try again`, [
          'Retry-After',
          '5',
        ])
      }
      try {
        start(response, caller, parseStart(request.url ?? '/'))
      } catch (error) {
        if (!(error instanceof BadStart)) throw error
        sendError(response, 400, error.message)
      }
    },
    endRevoked() {
      for (const [end, caller] of [...open]) if (!access.isLive(caller)) end()
    },
    close() {
      for (const end of [...open.keys()]) end()
    },
  }
}

/** Parses where a request starts. @throws BadStart */
function parseStart(url: string): StreamStart {
  const query = new URL(url, 'http://localhost').searchParams
  const [from, locator] = [query.get('from'), query.get('locator')]
  const state = parseState(query.get('state'))
  if ((from === null) === (locator === null)) {
    throw new BadStart('expected ?from=NUMBER or ?locator=NUMBER:HASH,…')
  }
  if (from !== null) {
    if (/^\d{1,15}$/.test(from)) return { from: Number(from), state }
    throw new BadStart(`from: expected a block number, got ${abbreviate(from)}`)
  }
  const entries = locator === '' ? [] : locator!.split(',')
  if (entries.length > MAX_LOCATOR)
    throw new BadStart(`locator: expected at most ${MAX_LOCATOR} blocks, got ${entries.length}`)
  return { locator: entries.map(parseEntry), state }
}

function parseState(text: string | null): StreamStart['state'] {
  if (text === null || text === 'none') return text ?? undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new BadStart(`state: expected a number or none, got ${abbreviate(text)}`)
}

function parseEntry(text: string): BlockRef {
  const [, number, hash] = /^(\d{1,15}):(0x[0-9a-f]{64})$/i.exec(text) ?? []
  if (hash === undefined) throw new BadStart(`locator: expected NUMBER:HASH, got ${abbreviate(text)}`)
  return { number: Number(number), hash: parseHex(hash) }
}

function sendError(response: ServerResponse, status: number, message: string, headers?: readonly string[]): void {
  if (!response.destroyed && !response.headersSent) sendJsonError(response, { status, message, headers })
}
