import type { Logger } from '../lib/logger.js'
import { type Abandonment, answerBody, type Response, refuseBody } from '../rpc/answer.js'
import { type ClientId, type Dispatcher, dispatchFor } from '../rpc/dispatch.js'
import { encodeResponse, type ParsedBody, parseBody, sizeOf } from '../rpc/envelope.js'
import { INTERNAL_ERROR, type RpcErrorBody } from '../rpc/errors.js'
import type { Access, Caller, Refusal } from './access.js'
import type { CompressionPolicy, Compressor } from './compression.js'
import { type CorsPolicy, corsHeaders } from './cors.js'
import type { HealthReport } from './health.js'
import type { HostPolicy } from './hosts.js'

/** What the HTTP and WebSocket servers need. */
export interface ServerOptions {
  readonly dispatcher: Dispatcher
  readonly access: Access
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  readonly compression: CompressionPolicy
  readonly health: () => HealthReport
  readonly log: Logger
}

/** Where the answer to one request goes. */
export interface Reply {
  /** True when nobody waits for it any more. */
  isGone(): boolean
  /** True also when the client has ended its side, as nearly all do that wait no longer. */
  hasLeft(): boolean
  /** Sends it, once: headers are names and values by turns, to which those of the body are added. */
  send(status: number, headers: string[], parts: readonly Uint8Array[]): void
  /** True once `send` was called. */
  isSent(): boolean
  /** Ends the connection without an answer. */
  destroy(): void
}

/** What of a request decides how it is answered. */
export interface ClientFacts {
  readonly origin: string | undefined
  readonly acceptEncoding: string | undefined
  readonly remoteAddress: string | undefined
  /** Tells clients without a key apart. */
  readonly connection: object
}

/** A request with calls on its way to its answer. */
export interface Exchange {
  readonly options: ServerOptions
  readonly compressor: Compressor
  readonly client: ClientFacts
  readonly reply: Reply
  /** Of the answer, names and values by turns. */
  readonly headers: string[]
}

const JSON_TYPES = ['application/json', 'application/json-rpc', 'application/jsonrequest']

/** The begin of an exchange, with the headers that every answer has. */
export function beginExchange(
  options: ServerOptions,
  parts: { compressor: Compressor; client: ClientFacts; reply: Reply },
): Exchange {
  const headers: string[] = []
  for (const [name, value] of corsHeaders(options.cors, parts.client.origin)) headers.push(name, value)
  return { options, ...parts, headers }
}

/** Answers the calls of a body: before it returns where the outcome is there at once, so that no promise is made on the way of
 *  such a call. What is thrown on the way is logged, and answered with status 500. */
export function answerCalls(exchange: Exchange, caller: Caller, text: string): void {
  attempt(exchange, () => answer(exchange, caller, text))
}

/** Answers with an error of the whole request. */
export function sendError({ reply, headers }: Exchange, status: number, error: RpcErrorBody): void {
  reply.send(status, headers, encodeResponse('null', { error }))
}

/** Answers every call of a body with why the request is refused; with the id null where there is none to name. */
export function sendRefusal({ reply, headers }: Exchange, refusal: Refusal, text: string): void {
  const { error, status } = refusal
  headers.push(...retryHeaders(refusal))
  reply.send(status, headers, refuseBody(parseBody(text), error) ?? encodeResponse('null', { error }))
}

/** The header that tells a refused client when to ask again, where it may. */
export function retryHeaders({ retryAfterSeconds }: Refusal): string[] {
  return retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]
}

/** What is wrong with the content headers of a request for calls; undefined when nothing is. */
export function checkType(contentType: string | undefined, contentEncoding: string | undefined): string | undefined {
  const type = (contentType ?? '').split(';')[0].trim().toLowerCase()
  if (!JSON_TYPES.includes(type)) return `content type must be ${JSON_TYPES.join(', ')}`
  if (contentEncoding !== undefined && contentEncoding !== 'identity') return 'compressed request bodies are not taken'
  return undefined
}

/** Whose turn it is when threads are shared: the key's, else the connection's. */
export function clientOf(caller: Caller, connection: object): ClientId {
  return caller.keyId ?? connection
}

/** Calls that a body is charged with. */
export function callCount(body: ParsedBody): number {
  return body.kind === 'single' ? 1 : body.items.length
}

/** Does a step of an exchange. What is thrown by it is logged, and ends the exchange. */
export function attempt(exchange: Exchange, step: () => void | Promise<void>): void {
  const { options, reply } = exchange
  const fail = (error: unknown) => {
    options.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'a response failed')
    if (reply.isSent()) reply.destroy()
    else sendError(exchange, 500, { code: INTERNAL_ERROR, message: 'internal error' })
  }
  try {
    step()?.catch(fail)
  } catch (error) {
    fail(error)
  }
}

function answer(exchange: Exchange, caller: Caller, text: string): void | Promise<void> {
  const { reply, headers } = exchange
  const { access, dispatcher } = exchange.options
  const body = parseBody(text)
  const refusal = access.refuse(caller, callCount(body))
  if (refusal !== undefined) {
    headers.push(...retryHeaders(refusal))
    return reply.send(refusal.status, headers, refuseBody(body, refusal.error) ?? [])
  }
  const client = clientOf(caller, exchange.client.connection)
  if (body.kind === 'batch')
    return answerBatch(exchange, body, dispatchFor(dispatcher, client, access.watchKey(caller)))
  const parts = answerBody(body, dispatchFor(dispatcher, client))
  return parts instanceof Promise ? parts.then((later) => sendAnswer(exchange, later)) : sendAnswer(exchange, parts)
}

/** A batch, which may be long, is given up when its client leaves. */
async function answerBatch(exchange: Exchange, body: ParsedBody, dispatcher: Dispatcher): Promise<void> {
  const { reply } = exchange
  const parts = await answerBody(body, dispatcher, abandonmentOf(reply))
  return reply.hasLeft() ? reply.destroy() : sendAnswer(exchange, parts)
}

/** Not for each call: V8 makes a hidden class of its own for each object with a getter that is written out, which outlives it. */
function abandonmentOf(reply: Reply): Abandonment {
  return {
    get aborted() {
      return reply.hasLeft()
    },
  }
}

/** Sends the answer of a call or a batch, compressed where that is worth it. */
function sendAnswer({ compressor, client, reply, headers }: Exchange, parts: Response): void | Promise<void> {
  if (reply.isGone()) return
  if (parts === undefined) return reply.send(204, headers, [])
  const size = sizeOf(parts)
  if (compressor.varies(size)) headers.push('Vary', 'Accept-Encoding')
  const coding = compressor.codingFor(client, size)
  if (coding === undefined) return reply.send(200, headers, parts)
  return compressor.compress(parts, coding, reply).then((compressed) => {
    if (compressed === undefined || reply.isGone()) return
    headers.push('Content-Encoding', coding)
    reply.send(200, headers, [compressed])
  })
}
