import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { encodeResponse, sizeOf } from '../rpc/envelope.js'
import { INVALID_REQUEST, type RpcErrorBody } from '../rpc/errors.js'
import { type Caller, type Credentials, isRefusal, type Refusal } from './access.js'
import { type Compressor, createCompressor } from './compression.js'
import { corsHeaders, type Header, preflightHeaders } from './cors.js'
import {
  answerCalls,
  attempt,
  beginExchange,
  checkType,
  type Exchange,
  type Reply,
  retryHeaders,
  type ServerOptions,
  sendError,
  sendRefusal,
} from './exchange.js'
import { createHealthApp } from './health.js'
import { createHostCheck } from './hosts.js'
import { createOutbox, type Outbox } from './outbox.js'
import { type PlainHandler, takePlainRequests } from './plainConnections.js'
import { bodyHeaders, JOIN_BYTES, joinParts } from './responseParts.js'

/** Largest request body, as the contract's host has it; a filter of 5,000 parameters has 350 kB. */
export const MAX_BODY_BYTES = 5_000_000

/** A refused body is read on for so long, so that the answer reaches a client that is still sending. */
const LINGER_MS = 1000

/** A request with a wrong key is read up to here, so that the refusal can name its id: room for a batch of 1,000 small calls.
 *  The refusal of a larger one has the id null. */
const MAX_REFUSED_BYTES = 65_536

/** Longer than the idle time of the usual proxies, which then close first and never meet a closed connection. */
const IDLE_MS = 75_000
const REQUEST_MS = 60_000

/** A server, not listening yet, and how its connections are ended. */
export interface HttpServer {
  readonly server: Server
  /** Ends connections without a request under way. */
  closeIdle(): void
  /** Ends all connections. */
  closeAll(): void
}

/** A server for calls by POST and for GET of `/health` and `/ready`. */
export function createHttpServer(options: ServerOptions): HttpServer {
  const shared = { options, compressor: createCompressor(options.compression), outbox: createOutbox() }
  const app = createHealthApp(options.health)
  const isServedHost = createHostCheck(options.hosts)
  const server = createServer((request, response) => {
    if (!isServedHost(request.headers.host)) return rejectHost(response)
    const cors = corsHeaders(options.cors, request.headers.origin)
    const caller = options.access.identify(credentialsOf(request), '/v3')
    if (request.method === 'OPTIONS') {
      return answerPreflight(response, cors, request.headers['access-control-request-headers'])
    }
    if (caller === undefined) {
      for (const [name, value] of cors) response.setHeader(name, value)
      return void app(request, response)
    }
    receiveCall(shared, { request, response, caller })
  })
  server.keepAliveTimeout = IDLE_MS
  server.requestTimeout = REQUEST_MS
  const timeouts = { idleMs: IDLE_MS, requestMs: REQUEST_MS }
  const handler = createPlainHandler(shared, isServedHost)
  const connections = takePlainRequests(server, { handler, outbox: shared.outbox, timeouts })
  return {
    server,
    closeIdle() {
      server.closeIdleConnections()
      connections.closeIdle()
    },
    closeAll() {
      server.closeAllConnections()
      connections.closeAll()
    },
  }
}

/** What a request of Node's says about who asks. */
export function credentialsOf({ url = '/', headers, socket }: IncomingMessage): Credentials {
  return {
    path: url,
    authorization: headers.authorization,
    apiKey: headers['x-api-key'] as string | undefined, // several are joined
    remoteAddress: socket.remoteAddress,
  }
}

/** What is answered to a request for a host that is not served here. */
export const HOST_REFUSED: RpcErrorBody = {
  code: INVALID_REQUEST,
  message: 'the Host header is not allowed; name it with --allowed-hosts',
}

function rejectHost(response: ServerResponse): void {
  const parts = encodeResponse('null', { error: HOST_REFUSED })
  response.writeHead(403, ['Connection', 'close', ...bodyHeaders(403, parts)])
  response.end(joinParts(parts)[0], 'latin1')
}

function answerPreflight(
  response: ServerResponse,
  cors: readonly Header[],
  requestedHeaders: string | undefined,
): void {
  response.writeHead(204, [...cors, ...preflightHeaders(requestedHeaders)].flat()).end()
}

/** What all exchanges of a server have in common. */
interface Shared {
  readonly options: ServerOptions
  readonly compressor: Compressor
  readonly outbox: Outbox
}

/** Plain requests of known callers with the right type are answered, all others are left to Node. */
function createPlainHandler(
  { options, compressor }: Shared,
  isServedHost: (host: string) => boolean,
): PlainHandler<Caller> {
  return {
    admit(head, remoteAddress) {
      if (!isServedHost(head.host) || checkType(head.contentType, undefined) !== undefined) return undefined
      const { path, authorization, apiKey } = head
      const caller = options.access.identify({ path, authorization, apiKey, remoteAddress }, '/v3')
      return caller === undefined || isRefusal(caller) ? undefined : caller
    },
    answer({ head: { origin, acceptEncoding }, admitted, body, remoteAddress, connection }, reply) {
      const client = { origin, acceptEncoding, remoteAddress, connection }
      const exchange = beginExchange(options, { compressor, client, reply })
      answerCalls(exchange, admitted, body)
    },
  }
}

function receiveCall(
  { options, compressor, outbox }: Shared,
  { request, response, caller }: { request: IncomingMessage; response: ServerResponse; caller: Caller | Refusal },
): void {
  const { origin, 'accept-encoding': acceptEncoding } = request.headers
  const client = {
    origin,
    acceptEncoding: acceptEncoding as string | undefined, // several are joined
    remoteAddress: request.socket.remoteAddress,
    connection: request.socket,
  }
  const exchange = beginExchange(options, { compressor, client, reply: createReply(response, outbox) })
  attempt(exchange, () => takeCall(exchange, { request, response, caller }))
}

function takeCall(
  exchange: Exchange,
  { request, response, caller }: { request: IncomingMessage; response: ServerResponse; caller: Caller | Refusal },
): void {
  const refuseWith = (status: number, error: RpcErrorBody) => refuse(exchange, { request, response }, { status, error })
  if (request.method !== 'POST') {
    exchange.headers.push('Allow', 'POST, OPTIONS')
    return void refuseWith(405, { code: INVALID_REQUEST, message: 'method not allowed, use POST' })
  }
  if (isRefusal(caller)) return void refuseCaller(exchange, { request, response, refusal: caller })
  const wrongType = checkType(request.headers['content-type'], request.headers['content-encoding'])
  if (wrongType !== undefined) return void refuseWith(415, { code: INVALID_REQUEST, message: wrongType })
  readBody(request, MAX_BODY_BYTES, (text) => {
    if (text !== TOO_LARGE) return answerCalls(exchange, caller, text)
    refuseWith(413, { code: INVALID_REQUEST, message: `request body exceeds ${MAX_BODY_BYTES} bytes` })
  })
}

/** Refuses who asks: with the ids of a small body, unless the client guesses keys, which is told at once and has to connect
 *  again. */
function refuseCaller(
  exchange: Exchange,
  { request, response, refusal }: { request: IncomingMessage; response: ServerResponse; refusal: Refusal },
): void {
  const counted = exchange.options.access.countRefusal(refusal, request.socket.remoteAddress)
  const { status, error } = counted
  if (status === 429) {
    exchange.headers.push('Connection', 'close', ...retryHeaders(counted))
    refuse(exchange, { request, response }, { status, error })
    return
  }
  readBody(request, MAX_REFUSED_BYTES, (text) => {
    if (text === TOO_LARGE) refuse(exchange, { request, response }, { status, error })
    else sendRefusal(exchange, counted, text)
  })
}

/** A reply by a response of Node's. */
function createReply(response: ServerResponse, outbox: Outbox): Reply {
  return {
    isGone: () => response.destroyed,
    hasLeft: () => response.destroyed,
    isSent: () => response.headersSent,
    send(status, headers, parts) {
      // Given to Node all at once, which is cheaper than one by one.
      headers.push(...bodyHeaders(status, parts))
      response.writeHead(status, headers)
      const chunks = joinParts(parts)
      if (sizeOf(parts) <= JOIN_BYTES) return outbox(() => void response.end(chunks[0], 'latin1'))
      response.cork()
      for (const chunk of chunks) response.write(chunk)
      response.end()
    },
    destroy: () => void response.destroy(),
  }
}

const TOO_LARGE = Symbol('too large')

/** Gives the body's text to `take`, once; never when the client went away before. Stops reading at the limit, or before it
 *  has begun. */
function readBody(request: IncomingMessage, maxBytes: number, take: (text: string | typeof TOO_LARGE) => void): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return void take(TOO_LARGE)
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) {
      request.off('data', onData)
      request.off('end', onEnd)
      request.pause()
      take(TOO_LARGE)
    } else chunks.push(chunk)
  }
  const onEnd = () => take(chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString())
  request.on('data', onData)
  request.on('end', onEnd)
}

/** Answers without having read the body. The rest of a small one is thrown away and the connection lives on; of a large
 *  one or one of unknown length, only what comes within a second, and the connection is closed. */
function refuse(
  exchange: Exchange,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { status, error }: { status: number; error: RpcErrorBody },
): void {
  const length = Number(request.headers['content-length'] ?? (request.headers['transfer-encoding'] ? Infinity : 0))
  if (length <= JOIN_BYTES) return void sendError(exchange, status, error)
  const parts = encodeResponse('null', { error })
  response.writeHead(status, [...exchange.headers, 'Connection', 'close', ...bodyHeaders(status, parts)])
  if (request.method !== 'HEAD') for (const part of parts) response.write(part)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  for (const event of ['end', 'close', 'error']) request.on(event, end)
  request.resume()
}
