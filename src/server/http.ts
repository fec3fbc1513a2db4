import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Logger } from '../lib/logger.js'
import { answerBody, refuseBody } from '../rpc/answer.js'
import type { Dispatcher } from '../rpc/dispatch.js'
import { encodeResponse, type ParsedBody, parseBody, sizeOf } from '../rpc/envelope.js'
import { INTERNAL_ERROR, INVALID_REQUEST, type RpcErrorBody } from '../rpc/errors.js'
import { type Access, type Caller, isRefusal } from './access.js'
import { type CompressionPolicy, type Compressor, createCompressor } from './compression.js'
import { type CorsPolicy, corsHeaders, preflightHeaders } from './cors.js'
import { createHealthApp, type HealthReport } from './health.js'

/** Largest request body, as the contract's host has it; a filter of 5,000 parameters has 350 kB. */
export const MAX_BODY_BYTES = 5_000_000

/** A refused body is read on for so long, so that the answer reaches a client that is still sending. */
const LINGER_MS = 1000

/** Below this a response's parts are joined, which is one write; above, they are sent one by one without a copy. */
const JOIN_BYTES = 65_536

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
  const server = createServer((request, response) => {
    corsHeaders(options.cors, request.headers.origin).forEach(([name, value]) => void response.setHeader(name, value))
    const caller = options.access.identify(request.url ?? '/', '/v3')
    if (request.method === 'OPTIONS') return answerPreflight(request, response)
    if (caller === undefined) return void app(request, response)
    answerRpc({ ...options, compressor, request, response, caller }).catch((error: unknown) => {
      options.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'a response failed')
      if (response.headersSent) response.destroy()
      else sendError(response, 500, { code: INTERNAL_ERROR, message: 'internal error' })
    })
  })
  // Longer than the idle time of the usual proxies, which then close first and never meet a closed connection.
  server.keepAliveTimeout = 75_000
  server.requestTimeout = 60_000
  return server
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  for (const [name, value] of preflightHeaders(request.headers['access-control-request-headers'])) {
    response.setHeader(name, value)
  }
  response.writeHead(204).end()
}

interface Exchange extends ServerOptions {
  readonly compressor: Compressor
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller | RpcErrorBody
}

async function answerRpc(exchange: Exchange): Promise<void> {
  const { request, response, caller, access, dispatcher } = exchange
  if (request.method !== 'POST') {
    response.setHeader('Allow', 'POST, OPTIONS')
    return refuse(exchange, 405, { code: INVALID_REQUEST, message: 'method not allowed, use POST' })
  }
  if (isRefusal(caller)) return refuse(exchange, 401, caller)
  const wrongType = checkType(request)
  if (wrongType !== undefined) return refuse(exchange, 415, { code: INVALID_REQUEST, message: wrongType })
  const text = await readBody(request)
  if (text === undefined) return
  if (text === TOO_LARGE) {
    return refuse(exchange, 413, { code: INVALID_REQUEST, message: `request body exceeds ${MAX_BODY_BYTES} bytes` })
  }
  const body = parseBody(text)
  const refusal = access.refuse(caller, callCount(body))
  if (refusal !== undefined) {
    if (refusal.retryAfterSeconds !== undefined) response.setHeader('Retry-After', refusal.retryAfterSeconds)
    const parts = refuseBody(body, refusal.error)
    return send(response, refusal.retryAfterSeconds === undefined ? 401 : 429, parts ?? [])
  }
  const abandonment = { aborted: false }
  response.on('close', () => {
    abandonment.aborted = true
  })
  const parts = await answerBody(body, dispatcher, abandonment)
  if (response.destroyed) return
  if (parts === undefined) response.writeHead(204).end()
  else await sendAnswer(exchange, parts)
}

/** Sends the answer of a call or a batch, compressed where that is worth it. */
async function sendAnswer({ compressor, request, response }: Exchange, parts: readonly Uint8Array[]): Promise<void> {
  const size = sizeOf(parts)
  if (compressor.varies(size)) response.appendHeader('Vary', 'Accept-Encoding')
  const coding = compressor.codingFor(request, size)
  if (coding === undefined) return send(response, 200, parts)
  const compressed = await compressor.compress(parts, coding, response)
  if (compressed === undefined || response.destroyed) return
  response.setHeader('Content-Encoding', coding)
  send(response, 200, [compressed])
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

/** The body's text; undefined when the client went away. Stops reading at the limit, or before it has begun. */
function readBody(request: IncomingMessage): Promise<string | typeof TOO_LARGE | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.resolve(TOO_LARGE)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BODY_BYTES) {
        request.off('data', onData)
        request.pause()
        resolve(TOO_LARGE)
      } else chunks.push(chunk)
    }
    request.on('data', onData)
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString()))
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}

/** Answers without having read the body. The rest of a small one is thrown away and the connection lives on; of a large
 *  one or one of unknown length, only what comes within a second, and the connection is closed. */
function refuse(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  status: number,
  error: RpcErrorBody,
): void {
  const length = Number(request.headers['content-length'] ?? (request.headers['transfer-encoding'] ? Infinity : 0))
  if (length <= JOIN_BYTES) {
    sendError(response, status, error)
    return
  }
  response.setHeader('Connection', 'close')
  const [bytes] = encodeResponse('null', { error })
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
  if (request.method !== 'HEAD') response.write(bytes)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  for (const event of ['end', 'close', 'error']) request.on(event, end)
  request.resume()
}

function sendError(response: ServerResponse, status: number, error: RpcErrorBody): void {
  send(response, status, encodeResponse('null', { error }))
}

function send(response: ServerResponse, status: number, parts: readonly Uint8Array[]): void {
  const size = sizeOf(parts)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': size })
  if (size <= JOIN_BYTES) {
    response.end(Buffer.concat(parts, size))
    return
  }
  response.cork()
  for (const part of parts) response.write(part)
  response.end()
}
