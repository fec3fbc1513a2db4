import { describeError } from '../lib/errors.js'
import type { FailureLog } from '../lib/failureLog.js'
import type { Logger } from '../lib/logger.js'
import type { Metrics } from '../lib/metrics.js'
import { type Abandonment, answerBody, type Response, refuseBody } from '../rpc/core/answer.js'
import { type Dispatcher, dispatchFor } from '../rpc/core/dispatch.js'
import { encodeResponse, type ParsedBody, parseBody, sizeOf } from '../rpc/core/envelope.js'
import { INTERNAL_ERROR, type RpcErrorBody } from '../rpc/core/errors.js'
import { type Access, type Caller, clientOf, type Refusal } from './access/access.js'
import { type CorsPolicy, corsHeaders } from './access/cors.js'
import type { HostPolicy } from './access/hosts.js'
import type { HealthSource } from './admin/adminApp.js'
import type { MetricsPage } from './admin/metricsPage.js'
import type { CompressionPolicy, Compressor } from './http/compression.js'
import { type Admission, BUSY } from './limits/admission.js'
import type { ServerLimits } from './limits/limits.js'
import { type Lane, type Room, SMALL_ANSWER_BYTES } from './limits/outputBudget.js'
import type { RefusalCounter } from './limits/refusals.js'

/** What the HTTP and WebSocket servers need. */
export interface ServerOptions {
  readonly dispatcher: Dispatcher
  readonly access: Access
  readonly admission: Admission
  readonly limits: ServerLimits
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  /** Whether plain POSTs are read without Node's HTTP parser. */
  readonly plainHttp: boolean
  readonly compression: CompressionPolicy
  readonly health: HealthSource
  /** Undefined where `/metrics` is not served on this port. */
  readonly metricsPage: MetricsPage | undefined
  readonly metrics: Metrics
  readonly refusals: RefusalCounter
  /** Is told when keys cannot be looked up. */
  readonly failures: FailureLog
  readonly log: Logger
}

/** Where the answer to one request goes. */
export interface Reply {
  /** True when nobody waits for it any more. */
  isGone(): boolean
  /** True also when the client has ended its side, as nearly all do that wait no longer. */
  hasLeft(): boolean
  /** Sends it, once: headers are names and values by turns, to which those of the body are added. `onTaken` is called once the
   *  system has taken it all, or the connection is gone. */
  send(status: number, headers: string[], parts: readonly Uint8Array[], onTaken?: () => void): void
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
}

/** A request with calls on its way to its answer. */
export interface Exchange {
  readonly options: ServerOptions
  readonly compressor: Compressor
  readonly client: ClientFacts
  readonly reply: Reply
  /** Of its connection. */
  readonly lane: Lane
  /** Of the answer, names and values by turns. */
  readonly headers: string[]
}

/** Longer bodies, in bytes or characters, are decoded and parsed in the time that batches share: 60 batches of 130 KB that come at
 *  once take 3 ms each. */
const SMALL_BODY_LENGTH = 16_384

const JSON_TYPES = ['application/json', 'application/json-rpc', 'application/jsonrequest']

/** The begin of an exchange, with the headers that every answer has. */
export function beginExchange(
  options: ServerOptions,
  parts: { compressor: Compressor; client: ClientFacts; reply: Reply; lane: Lane },
): Exchange {
  const headers: string[] = []
  for (const [name, value] of corsHeaders(options.cors, parts.client.origin)) headers.push(name, value)
  return { options, ...parts, headers }
}

/** Answers the calls of a body: before it returns where the outcome is there at once, so that no promise is made on the way of
 *  such a call. What is thrown on the way is logged, and answered with status 500. */
export function answerCalls(exchange: Exchange, caller: Caller, body: string | Buffer): void {
  attempt(exchange, () => answer(exchange, caller, body))
}

/** Answers with an error of the whole request. */
export function sendError({ reply, headers }: Exchange, status: number, error: RpcErrorBody): void {
  reply.send(status, headers, encodeResponse('null', { error }))
}

/** Answers every call of a body with why the request is refused; with the id null where there is none to name. */
export function sendRefusal({ reply, headers, options }: Exchange, refusal: Refusal, body: ParsedBody): void {
  const { error, status, reason } = refusal
  options.refusals.count(reason)
  headers.push(...retryHeaders(refusal))
  reply.send(status, headers, refuseBody(body, error) ?? encodeResponse('null', { error }))
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

/** Calls that a body is charged with. */
export function callCount(body: ParsedBody): number {
  return body.kind === 'single' ? 1 : body.items.length
}

/** The dispatcher for the calls of a body: in the client's share, and for a batch only as long as its key is live. */
export function dispatcherOf(
  { access, dispatcher }: ServerOptions,
  { caller, lane, body }: { caller: Caller; lane: Lane; body: ParsedBody },
): Dispatcher {
  const watched = body.kind === 'batch' ? access.watchKey(caller) : undefined
  return dispatchFor(dispatcher, clientOf(caller, lane), watched)
}

/** Does a step of an exchange. What is thrown by it is logged, and ends the exchange and what it has of a room. */
export function attempt(exchange: Exchange, step: () => void | Promise<void>, room?: Room): void {
  const { options, reply } = exchange
  const fail = (error: unknown) => {
    room?.release()
    options.log.error({ error: describeError(error) }, 'a response failed')
    if (reply.isSent()) reply.destroy()
    else sendError(exchange, 500, { code: INTERNAL_ERROR, message: 'internal error' })
  }
  try {
    step()?.catch(fail)
  } catch (error) {
    fail(error)
  }
}

function answer(exchange: Exchange, caller: Caller, body: string | Buffer): void | Promise<void> {
  return inSharedTime(exchange.options, body.length, {
    work: () => (exchange.reply.isGone() ? undefined : answerText(exchange, caller, body.toString())),
    refuse() {
      exchange.options.refusals.count(BUSY.reason)
      exchange.headers.push(...retryHeaders(BUSY))
      sendError(exchange, BUSY.status, BUSY.error)
    },
  })
}

/** Decodes and parses a body of `length` by `work`: a short one at once, a long one in the time that batches share. Refuses one
 *  for which there is no memory while it waits. */
export function inSharedTime(
  { admission, dispatcher }: ServerOptions,
  length: number,
  { work, refuse }: { work: () => void | Promise<void>; refuse: () => void },
): void | Promise<void> {
  if (length <= SMALL_BODY_LENGTH) return work()
  const holding = admission.bodies.open()
  if (!holding.resize(length)) return refuse()
  const slice = dispatcher.slices?.join()
  const workInTurn = () => {
    holding.release()
    try {
      return work()
    } finally {
      slice?.leave()
    }
  }
  const turn = slice?.wait()
  return turn === undefined ? workInTurn() : turn.then(workInTurn)
}

function answerText(exchange: Exchange, caller: Caller, text: string): void | Promise<void> {
  const { access, admission } = exchange.options
  const body = parseBody(text)
  const refusal = access.refuse(caller, callCount(body))
  if (refusal !== undefined) return sendRefusal(exchange, refusal, body)
  const { lane, client, reply } = exchange
  const calls = dispatcherOf(exchange.options, { caller, lane, body })
  if (!admission.isNeeded(body)) {
    const parts = answerBody(body, calls)
    return parts instanceof Promise
      ? parts.then((later) => sendAnswer(exchange, body, later))
      : sendAnswer(exchange, body, parts)
  }
  admission.enter({
    caller,
    lane,
    remoteAddress: client.remoteAddress,
    text,
    body,
    isGone: () => reply.isGone(),
    begin: (room) => attempt(exchange, () => answerIn(exchange, { dispatcher: calls, body, room }), room),
    refuse: (busy) => sendRefusal(exchange, busy, body),
  })
}

/** Answers a body for whose answer there is room. A batch, which may be long, is given up when its client leaves. */
function answerIn(
  exchange: Exchange,
  { dispatcher, body, room }: { dispatcher: Dispatcher; body: ParsedBody; room: Room },
): void | Promise<void> {
  const { reply } = exchange
  const conditions = body.kind === 'batch' ? { abandonment: abandonmentOf(reply), room } : undefined
  const send = (parts: Response) => {
    if (conditions === undefined || !reply.hasLeft()) return sendAnswer(exchange, body, parts, room)
    room.release()
    reply.destroy()
  }
  const parts = answerBody(body, dispatcher, conditions)
  return parts instanceof Promise ? parts.then(send) : send(parts)
}

/** Not for each call: V8 makes a hidden class of its own for each object with a getter that is written out, which outlives it. */
function abandonmentOf(reply: Reply): Abandonment {
  return {
    get aborted() {
      return reply.hasLeft()
    },
  }
}

/** Sends the answer of a call or a batch, compressed where that is worth it; an error instead where it cannot be held until
 *  the client has taken it. */
function sendAnswer(exchange: Exchange, body: ParsedBody, parts: Response, reserved?: Room): void | Promise<void> {
  const { compressor, client, reply, headers, lane, options } = exchange
  if (reply.isGone()) return reserved?.release()
  if (parts === undefined) return reply.send(204, headers, [], () => reserved?.release())
  const size = sizeOf(parts)
  const room = reserved ?? (size > SMALL_ANSWER_BYTES ? options.admission.output.hold(lane, size) : undefined)
  if (size > SMALL_ANSWER_BYTES && room?.settle(size) !== true) {
    reserved?.release()
    return sendRefusal(exchange, BUSY, body)
  }
  const onTaken = room && (() => room.release())
  if (compressor.varies(size)) headers.push('Vary', 'Accept-Encoding')
  const coding = compressor.codingFor(client, size)
  if (coding === undefined) return reply.send(200, headers, parts, onTaken)
  return compressor.compress(parts, coding, reply).then((compressed) => {
    if (compressed === undefined || reply.isGone()) return room?.release()
    headers.push('Content-Encoding', coding)
    reply.send(200, headers, [compressed], onTaken)
  })
}
