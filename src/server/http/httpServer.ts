import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { parseBody } from '../../rpc/core/envelope.js'
import { INVALID_REQUEST, type RpcErrorBody } from '../../rpc/core/errors.js'
import { encodeResponse, sizeOf } from '../../rpc/core/responseBytes.js'
import { createTimeBudget } from '../../rpc/core/timeBudget.js'
import {
  type Caller,
  type Credentials,
  clientOf,
  isRefusal,
  maskKey,
  type Refusal,
  retryHeaders,
} from '../access/access.js'
import { corsHeaders, preflightHeaders, type ResponseHeader } from '../access/cors.js'
import { createHostCheck } from '../access/hosts.js'
import { openRecord } from '../accounting/requestRecord.js'
import { BUSY } from '../admission/admission.js'
import { createPipelineQueue } from '../admission/pipelineQueue.js'
import { createReadBudget, type ReadBudget } from '../admission/readBudget.js'
import type { RefusalReason } from '../admission/refusals.js'
import { createRequestQueue, type RequestQueue } from '../admission/requestQueue.js'
import { createWriteQueue, type WriteQueue } from '../admission/writeQueue.js'
import type { BodyExchange } from '../bodyExchange.js'
import { type Connections, TOO_SLOW, watchConnections } from '../connections/connections.js'
import { bodyHeaders, JOIN_BYTES, joinParts } from '../connections/responseParts.js'
import { beginExchange, type Exchange, type ServerOptions, stampHead } from '../exchange.js'
import { handleRequest } from '../handleRequest.js'
import { takePlainRequests } from '../plain/plainConnections.js'
import type { PlainHandler } from '../plain/plainRequest.js'
import { respondError, respondFailure, respondRefusal } from '../respond.js'
import { MAX_SQL_BODY_BYTES } from '../sql/sqlLimits.js'
import { MAX_STREAM_BODY_BYTES } from '../stream/streamLimits.js'
import { callPathOfStream } from '../stream/streamPath.js'
import { type BodyReader, createBodyReader } from './bodyReader.js'
import { type Compressor, createCompressor } from './compression.js'
import { checkContentHeaders } from './contentHeaders.js'
import { NodeReply } from './nodeReply.js'
import { createPlainAdmit, IDLE_MS, plainTimeouts, REQUEST_MS } from './plainCalls.js'
import { normalizeTarget, offersWebSocket } from './requestTarget.js'

/** Largest request body, the limit of the API specification's host. A filter with 5,000 parameters takes 350 kB. */
export const MAX_BODY_BYTES = 5_000_000

/** How long a refused body is still read, so that the response reaches a client that is sending. */
const LINGER_MS = 1000

/** A request with a wrong key is read up to this size, so that the refusal can carry its id. Fits a batch of 1,000
 *  small calls. Refusals of larger requests have the id null. */
const MAX_REFUSED_BYTES = 65_536

/** From the start of a connection or request to the end of its headers. */
const HEADERS_MS = 15_000

/** How often Node checks for requests that take too long. */
const CHECK_MS = 2000

/** Requests whose `Upgrade` header Node obeys; it answers all others, including their bodies (Node 22.21 and 24.9). */
const UPGRADES = { shouldUpgradeCallback: offersWebSocket }

/** A server, not listening yet, and the methods that end its connections. */
export interface HttpServer {
  readonly server: Server
  readonly connections: Connections
  /** Read budget of all connections. */
  readonly reads: ReadBudget
  /** Fair scheduling of short requests on all connections. */
  readonly requestQueue: RequestQueue
  readonly compressor: Compressor
  /** Closes connections without a request in progress. */
  closeIdle(): void
  /** Closes all connections. */
  closeAll(): void
}

/** A server for calls by POST and for GET of the page, `/health` and `/ready`. */
export function createHttpServer(options: ServerOptions): HttpServer {
  const { limits, admission } = options
  const { refusals, metrics } = options
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: CHECK_MS,
    ...UPGRADES,
  })
  const reads = createReadBudget()
  const requestQueue = createRequestQueue(options.dispatcher.timeBudget ?? createTimeBudget())
  const { output } = admission
  const watched = watchConnections(server, { limits, output, reads, metrics, slots: options.connectionSlots })
  const shared: Shared = {
    options,
    compressor: createCompressor(options.compression),
    writeQueue: createWriteQueue(),
    connections: watched,
    bodies: createBodyReader({ bodies: admission.bodies, reads, limits, onSweep: watched.onSweep }),
    reads,
    isServedHost: createHostCheck(options.hosts),
    loadApp: lazyApp(options),
    isClosing: () => !server.listening,
  }
  const inTurn = createPipelineQueue(admission.bodies, watched)
  server.on('request', (request, response) =>
    inTurn(request.socket, response, () => routeRequest(shared, request, response)),
  )
  const plain = options.plainHttp
    ? takePlainRequests(server, {
        handler: createPlainHandler(shared),
        writeQueue: shared.writeQueue,
        timeouts: plainTimeouts(limits),
        bodies: admission.bodies,
        reads,
        refusals,
        requestQueue,
        admit: watched.admit,
        onSweep: watched.onSweep,
      })
    : undefined
  if (plain === undefined) admitToNode(server, watched)
  return {
    server,
    connections: watched,
    reads,
    requestQueue,
    compressor: shared.compressor,
    closeIdle() {
      server.closeIdleConnections()
      plain?.closeIdle()
    },
    closeAll() {
      server.closeAllConnections()
      plain?.closeAll()
    },
  }
}

/** Loads the pages of operators on first use: express and its dependencies are 1 MB of code, and no call passes
 *  through it. */
function lazyApp({ health, metricsPage }: ServerOptions): () => Promise<RequestListener> {
  const notFound = 'not found; calls go to POST /v3/<API_KEY>'
  let app: Promise<RequestListener> | undefined
  return () => {
    app ??= import('../admin/adminApp.js').then(({ createAdminApp }) =>
      createAdminApp({ health, metricsPage, notFound }),
    )
    return app
  }
}

/** Leads a request that Node has parsed to what answers its path. */
function routeRequest(shared: Shared, request: IncomingMessage, response: ServerResponse) {
  const { options, reads } = shared
  normalizeTarget(request)
  if (!shared.isServedHost(request.headers.host)) {
    recordResponse(options, request, response)
    discardBody(request, reads)
    options.refusals.count('bad_host')
    return rejectHost(response)
  }
  if (options.page?.answer(request, response)) return discardBody(request, reads)
  const cors = corsHeaders(options.cors, request.headers.origin)
  const bulkCaller = request.method === 'OPTIONS' ? undefined : identifyBulk(options, request)
  const caller = bulkCaller ? undefined : options.access.identify(credentialsOf(request), '/v3')
  const replica = options.replication && identifyBelow('/replication', options, request)
  const isCall = caller !== undefined && request.method !== 'OPTIONS'
  const sqlCaller = options.sql && request.method !== 'OPTIONS' ? identifyBelow('/sql', options, request) : undefined
  if (!isCall) {
    recordResponse(options, request, response)
    if (sqlCaller === undefined && bulkCaller === undefined) discardBody(request, reads)
  }
  if (request.method === 'OPTIONS') {
    return answerPreflight(response, cors, request.headers['access-control-request-headers'])
  }
  if (replica !== undefined) return options.replication!.handle({ request, response, caller: replica })
  if (sqlCaller !== undefined) {
    return options.sql!.handle(
      beginBody(shared, { request, response, caller: sqlCaller, maxBytes: MAX_SQL_BODY_BYTES }),
    )
  }
  if (bulkCaller !== undefined) {
    const parts = { request, response, caller: bulkCaller, maxBytes: MAX_STREAM_BODY_BYTES }
    return options.bulk!.handle(beginBody(shared, parts))
  }
  if (caller === undefined) {
    for (const [name, value] of cors) response.setHeader(name, value)
    return void shared.loadApp().then(
      (respond) => respond(request, response),
      (error) => response.destroy(error),
    )
  }
  receiveCall(shared, { request, response, caller })
}

/** Leaves every admitted connection to Node's parser. */
function admitToNode(server: Server, connections: Connections): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    if (connections.admit(socket) === undefined) return
    for (const listener of listeners) listener.call(server, socket)
  })
}

/** Discards a body within the read budget. Node alone would read an unread body as fast as it arrives. */
function discardBody(request: IncomingMessage, reads: ReadBudget): void {
  if (bodyLength(request) > 0) reads.discard(request)
}

/** The announced body length in bytes; Infinity when unknown. */
function bodyLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? (headers['transfer-encoding'] ? Infinity : 0))
}

/** Writes a request without calls (pages, preflights) to the access log once it is answered. */
function recordResponse({ accounting }: ServerOptions, { socket }: IncomingMessage, response: ServerResponse): void {
  if (accounting?.accessLog === undefined) return
  const record = openRecord(accounting, { transport: 'http', remoteAddress: socket.remoteAddress, key: undefined })
  const sentBefore = socket.bytesWritten
  response.once('close', () => record.end(response.statusCode, socket.bytesWritten - sentBefore))
}

/** The credentials of a request that Node has parsed. */
export function credentialsOf({ url = '/', headers, socket }: IncomingMessage): Credentials {
  return {
    path: url,
    authorization: headers.authorization,
    apiKey: headers['x-api-key'] as string | undefined, // several are joined
    remoteAddress: socket.remoteAddress,
  }
}

/** Error for a Host header that is not allowed. */
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
  cors: readonly ResponseHeader[],
  requestedHeaders: string | undefined,
): void {
  response.writeHead(204, [...cors, ...preflightHeaders(requestedHeaders)].flat()).end()
}

/** State shared by all exchanges of a server. */
interface Shared {
  readonly options: ServerOptions
  readonly compressor: Compressor
  readonly writeQueue: WriteQueue
  readonly connections: Connections
  readonly bodies: BodyReader
  readonly reads: ReadBudget
  isServedHost(host: string | undefined): boolean
  /** The pages of operators. */
  loadApp(): Promise<RequestListener>
  /** True once the server accepts no new connections. */
  isClosing(): boolean
}

/** Handles plain requests of known callers with a valid content type; all others are left to Node. */
function createPlainHandler({ options, compressor, connections, isServedHost }: Shared): PlainHandler<Caller> {
  const { access, bulk } = options
  return {
    admit: createPlainAdmit({ access, isServedHost, hasStreams: bulk !== undefined }),
    clientOf,
    answer({ head: { origin, acceptEncoding, minBlock }, admitted, body, socket }, reply) {
      const client = { origin, acceptEncoding, minBlock, remoteAddress: socket.remoteAddress, key: admitted.name }
      const exchange = beginExchange(options, {
        compressor,
        client,
        reply,
        outputShare: connections.outputShareOf(socket),
      })
      handleRequest(exchange, admitted, body)
    },
  }
}

/** The caller of `prefix` and of paths below it; undefined for other paths. */
function identifyBelow(
  prefix: '/sql' | '/replication',
  { access }: ServerOptions,
  request: IncomingMessage,
): Caller | Refusal | undefined {
  const { url = '' } = request
  const isBelow = url.startsWith(prefix) && ['/', '?', undefined].includes(url[prefix.length])
  return isBelow ? access.identify(credentialsOf(request), prefix) : undefined
}

/** The caller of the path of streams; undefined for other paths. */
function identifyBulk({ bulk, access }: ServerOptions, request: IncomingMessage): Caller | Refusal | undefined {
  const path = bulk && callPathOfStream(request.url ?? '')
  return path === undefined ? undefined : access.identify({ ...credentialsOf(request), path }, '/v3')
}

/** The exchange of a request whose endpoint reads its body, of at most `maxBytes`. */
function beginBody(
  { options, connections, bodies }: Shared,
  parts: { request: IncomingMessage; response: ServerResponse; caller: Caller | Refusal; maxBytes: number },
): BodyExchange {
  const { request, response, caller, maxBytes } = parts
  const idleTracker = connections.idleTrackerOf(request.socket)
  return {
    request,
    response,
    caller,
    outputShare: connections.outputShareOf(request.socket),
    headers: corsHeaders(options.cors, request.headers.origin).flat(),
    readBody(take, fail) {
      idleTracker.receive()
      bodies.read(request, maxBytes, {
        onPiece: idleTracker.receive,
        take(body) {
          idleTracker.begin()
          take(body)
        },
        fail(reason) {
          idleTracker.begin()
          response.shouldKeepAlive = false
          if (reason === 'slow') fail(408, TOO_SLOW.message)
          else if (reason === 'busy') fail(503, BUSY.error.message)
          else fail(413, `request body exceeds ${maxBytes} bytes`)
        },
      })
    },
  }
}

function receiveCall(
  shared: Shared,
  { request, response, caller }: { request: IncomingMessage; response: ServerResponse; caller: Caller | Refusal },
): void {
  const { options, compressor, connections } = shared
  const { origin, 'accept-encoding': acceptEncoding } = request.headers
  const client = {
    origin,
    // Node joins repeated headers into one string.
    acceptEncoding: acceptEncoding as string | undefined,
    minBlock: request.headers['cairn-min-block'] as string | undefined,
    remoteAddress: request.socket.remoteAddress,
    key: isRefusal(caller) ? maskKey(credentialsOf(request), '/v3') : caller.name,
  }
  const reply = new NodeReply(response, shared)
  const exchange = beginExchange(options, {
    compressor,
    client,
    reply,
    outputShare: connections.outputShareOf(request.socket),
  })
  try {
    takeCall(exchange, shared, { request, response, caller })
  } catch (error) {
    respondFailure(exchange, error)
  }
}

function takeCall(
  exchange: Exchange,
  { connections, bodies, reads }: Pick<Shared, 'connections' | 'bodies' | 'reads'>,
  { request, response, caller }: { request: IncomingMessage; response: ServerResponse; caller: Caller | Refusal },
): void {
  const parts = { request, response, reads }
  const count = (reason: RefusalReason) => exchange.options.refusals.count(reason)
  const refuseWith = (status: number, reason: RefusalReason, message: string) => {
    count(reason)
    refuse(exchange, parts, { status, error: { code: INVALID_REQUEST, message } })
  }
  if (request.method !== 'POST') {
    exchange.headers.push('Allow', 'POST, OPTIONS')
    return void refuseWith(405, 'bad_method', 'method not allowed, use POST')
  }
  const isRefused = isRefusal(caller)
  const refusal = isRefused ? exchange.options.access.countRefusal(caller, request.socket.remoteAddress) : undefined
  if (refusal?.status === 429) {
    // A client that guesses keys has to reconnect for each guess.
    count(refusal.reason)
    exchange.headers.push(...retryHeaders(refusal))
    return void refuse(exchange, parts, { status: 429, error: refusal.error, closes: true })
  }
  const wrongType = checkContentHeaders(request.headers['content-type'], request.headers['content-encoding'])
  if (refusal === undefined && wrongType !== undefined) {
    return void refuseWith(415, 'bad_type', wrongType)
  }
  const idleTracker = connections.idleTrackerOf(request.socket)
  idleTracker.receive()
  bodies.read(request, refusal === undefined ? MAX_BODY_BYTES : MAX_REFUSED_BYTES, {
    onPiece: idleTracker.receive,
    take(body) {
      idleTracker.begin()
      stampHead(exchange) // the body may have taken a minute to arrive
      if (refusal !== undefined) respondRefusal(exchange, refusal, parseBody(body.toString()))
      else handleRequest(exchange, caller as Caller, body)
    },
    fail(reason) {
      idleTracker.begin()
      if (reason === 'slow') {
        count('too_slow')
        return refuse(exchange, parts, { status: 408, error: TOO_SLOW, closes: true })
      }
      if (reason === 'busy') {
        count(BUSY.reason)
        exchange.headers.push(...retryHeaders(BUSY))
        return refuse(exchange, parts, { status: 503, error: BUSY.error, closes: true })
      }
      if (refusal !== undefined) {
        count(refusal.reason)
        return refuse(exchange, parts, { status: 401, error: refusal.error })
      }
      refuseWith(413, 'too_large', `request body exceeds ${MAX_BODY_BYTES} bytes`)
    },
  })
}

/** Answers without reading the whole body. A small rest is discarded and the connection stays open. For a large body or
 *  one of unknown length, what arrives within a second is discarded, throttled, and the connection is closed. `closes`
 *  closes the connection at once without reading more, so a client that floods the server does not keep it busy. */
function refuse(
  exchange: Exchange,
  { request, response, reads }: { request: IncomingMessage; response: ServerResponse; reads: ReadBudget },
  { status, error, closes = false }: { status: number; error: RpcErrorBody; closes?: boolean },
): void {
  if (bodyLength(request) <= JOIN_BYTES && !closes) return void respondError(exchange, status, error)
  const parts = encodeResponse('null', { error })
  exchange.record?.refuse(error)
  exchange.record?.end(status, sizeOf(parts))
  response.writeHead(status, [...exchange.headers, 'Connection', 'close', ...bodyHeaders(status, parts)])
  if (request.method !== 'HEAD') for (const part of parts) response.write(part)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  for (const event of ['end', 'close', 'error']) request.on(event, end)
  if (!closes) reads.discard(request)
}
