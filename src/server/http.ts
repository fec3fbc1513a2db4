import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Logger } from '../lib/logger.js'
import { type Abandonment, answerBody, type Response, refuseBody } from '../rpc/answer.js'
import type { Dispatcher } from '../rpc/dispatch.js'
import { encodeResponse, type ParsedBody, parseBody, sizeOf } from '../rpc/envelope.js'
import { INTERNAL_ERROR, INVALID_REQUEST, type RpcErrorBody } from '../rpc/errors.js'
import { type Access, type Caller, isRefusal } from './access.js'
import { type CompressionPolicy, type Compressor, createCompressor } from './compression.js'
import { type CorsPolicy, corsHeaders, type Header, preflightHeaders } from './cors.js'
import { createHealthApp, type HealthReport } from './health.js'
import { createOutbox, type Outbox } from './outbox.js'

/** Largest request body, as the contract's host has it; a filter of 5,000 parameters has 350 kB. */
export const MAX_BODY_BYTES = 5_000_000

/** A refused body is read on for so long, so that the answer reaches a client that is still sending. */
const LINGER_MS = 1000

/** Below this a response's parts are joined, which is one write; above, they are sent one by one without a copy. */
const JOIN_BYTES = 65_536

/** Up to here it is cheaper to make a text of the parts than a second write. */
const TEXT_BYTES = 4096

const JSON_TYPES = ['application/json', 'application/json-rpc', 'application/jsonrequest']

/** What the HTTP and WebSocket servers need. */
export interface ServerOptions {
  readonly dispatcher: Dispatcher
  readonly access: Access
  readonly cors: CorsPolicy
  readonly compression: CompressionPolicy
  readonly health: () => HealthReport
  readonly log: Logger
}

/** A server for calls by POST and for GET of `/health` and `/ready`; not listening yet. */
export function createHttpServer(options: ServerOptions): Server {
  const app = createHealthApp(options.health)
  const compressor = createCompressor(options.compression)
  const outbox = createOutbox()
  const server = createServer((request, response) => {
    const cors = corsHeaders(options.cors, request.headers.origin)
    const caller = options.access.identify(request.url ?? '/', '/v3')
    if (request.method === 'OPTIONS') {
      return answerPreflight(response, cors, request.headers['access-control-request-headers'])
    }
    if (caller === undefined) {
      for (const [name, value] of cors) response.setHeader(name, value)
      return void app(request, response)
    }
    const exchange: Exchange = { options, compressor, outbox, request, response, caller, headers: flatten(cors) }
    attempt(exchange, () => receiveCall(exchange))
  })
  // Longer than the idle time of the usual proxies, which then close first and never meet a closed connection.
  server.keepAliveTimeout = 75_000
  server.requestTimeout = 60_000
  return server
}

function answerPreflight(
  response: ServerResponse,
  cors: readonly Header[],
  requestedHeaders: string | undefined,
): void {
  response.writeHead(204, [...cors, ...preflightHeaders(requestedHeaders)].flat()).end()
}

interface Exchange {
  readonly options: ServerOptions
  readonly compressor: Compressor
  readonly outbox: Outbox
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller | RpcErrorBody
  /** Of the answer, names and values by turns: given to Node all at once, which is cheaper than one by one. */
  readonly headers: string[]
}

function flatten(headers: readonly Header[]): string[] {
  const flat: string[] = []
  for (const [name, value] of headers) flat.push(name, value)
  return flat
}

/** Does a step of an exchange. What is thrown by it is logged, and ends the exchange. */
function attempt(exchange: Exchange, step: () => void | Promise<void>): void {
  const fail = (error: unknown) => {
    exchange.options.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'a response failed')
    if (exchange.response.headersSent) exchange.response.destroy()
    else sendError(exchange, 500, { code: INTERNAL_ERROR, message: 'internal error' })
  }
  try {
    step()?.catch(fail)
  } catch (error) {
    fail(error)
  }
}

function receiveCall(exchange: Exchange): void {
  const { request, caller, headers } = exchange
  if (request.method !== 'POST') {
    headers.push('Allow', 'POST, OPTIONS')
    return void refuse(exchange, 405, { code: INVALID_REQUEST, message: 'method not allowed, use POST' })
  }
  if (isRefusal(caller)) return void refuse(exchange, 401, caller)
  const wrongType = checkType(request)
  if (wrongType !== undefined) return void refuse(exchange, 415, { code: INVALID_REQUEST, message: wrongType })
  readBody(request, (text) => attempt(exchange, () => answerCall(exchange, caller, text)))
}

/** Answers before it returns where the outcome is there at once: no promise is made on the way of such a call. */
function answerCall(exchange: Exchange, caller: Caller, text: string | typeof TOO_LARGE): void | Promise<void> {
  const { response, headers } = exchange
  const { access, dispatcher } = exchange.options
  if (text === TOO_LARGE) {
    return refuse(exchange, 413, { code: INVALID_REQUEST, message: `request body exceeds ${MAX_BODY_BYTES} bytes` })
  }
  const body = parseBody(text)
  const refusal = access.refuse(caller, callCount(body))
  if (refusal !== undefined) {
    if (refusal.retryAfterSeconds !== undefined) headers.push('Retry-After', String(refusal.retryAfterSeconds))
    const parts = refuseBody(body, refusal.error)
    return send(exchange, refusal.retryAfterSeconds === undefined ? 401 : 429, parts ?? [])
  }
  const parts = answerBody(body, dispatcher, body.kind === 'batch' ? abandonmentOf(response) : undefined)
  return parts instanceof Promise ? parts.then((later) => sendAnswer(exchange, later)) : sendAnswer(exchange, parts)
}

/** Not for each call: V8 makes a hidden class of its own for each object with a getter that is written out, which outlives it. */
function abandonmentOf(response: ServerResponse): Abandonment {
  return {
    get aborted() {
      return response.destroyed
    },
  }
}

/** Sends the answer of a call or a batch, compressed where that is worth it. */
function sendAnswer(exchange: Exchange, parts: Response): void | Promise<void> {
  const { compressor, request, response, headers } = exchange
  if (response.destroyed) return
  if (parts === undefined) return void response.writeHead(204, headers).end()
  const size = sizeOf(parts)
  if (compressor.varies(size)) headers.push('Vary', 'Accept-Encoding')
  const coding = compressor.codingFor(request, size)
  if (coding === undefined) return send(exchange, 200, parts)
  return compressor.compress(parts, coding, response).then((compressed) => {
    if (compressed === undefined || response.destroyed) return
    headers.push('Content-Encoding', coding)
    send(exchange, 200, [compressed])
  })
}

/** Calls that a body is charged with. */
export function callCount(body: ParsedBody): number {
  return body.kind === 'single' ? 1 : body.items.length
}

/** What is wrong with the content headers. */
function checkType(request: IncomingMessage): string | undefined {
  const type = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase()
  if (!JSON_TYPES.includes(type)) return `content type must be ${JSON_TYPES.join(', ')}`
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return 'compressed request bodies are not taken'
  return undefined
}

const TOO_LARGE = Symbol('too large')

/** Gives the body's text to `take`, once; never when the client went away before. Stops reading at the limit, or before it
 *  has begun. */
function readBody(request: IncomingMessage, take: (text: string | typeof TOO_LARGE) => void): void {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return void take(TOO_LARGE)
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_BODY_BYTES) {
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
function refuse(exchange: Exchange, status: number, error: RpcErrorBody): void {
  const { request, response, headers } = exchange
  const length = Number(request.headers['content-length'] ?? (request.headers['transfer-encoding'] ? Infinity : 0))
  if (length <= JOIN_BYTES) return void sendError(exchange, status, error)
  const [bytes] = encodeResponse('null', { error })
  headers.push('Connection', 'close')
  writeHead(exchange, status, bytes.length)
  if (request.method !== 'HEAD') response.write(bytes)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  for (const event of ['end', 'close', 'error']) request.on(event, end)
  request.resume()
}

function sendError(exchange: Exchange, status: number, error: RpcErrorBody): void {
  send(exchange, status, encodeResponse('null', { error }))
}

function send(exchange: Exchange, status: number, parts: readonly Uint8Array[]): void {
  const { response, outbox } = exchange
  const size = sizeOf(parts)
  writeHead(exchange, status, size)
  // Node writes a text with the headers before it in one piece, bytes beside them in a second one.
  if (size <= TEXT_BYTES) outbox(response, latin1Text(parts))
  else if (size <= JOIN_BYTES) outbox(response, Buffer.concat(parts, size))
  else {
    response.cork()
    for (const part of parts) response.write(part)
    response.end()
  }
}

function writeHead({ response, headers }: Exchange, status: number, sizeBytes: number): void {
  headers.push('Content-Type', 'application/json', 'Content-Length', String(sizeBytes))
  response.writeHead(status, headers)
}

/** The parts as a text of one character for each byte. */
function latin1Text(parts: readonly Uint8Array[]): string {
  let text = ''
  for (const part of parts) text += Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
  return text
}
