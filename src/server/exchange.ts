import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeError } from '../lib/errors.js'
import type { FailureLog } from '../lib/failureLog.js'
import type { Logger } from '../lib/logger.js'
import type { Metrics } from '../lib/metrics.js'
import { answerBody, type CancelSignal, type Response, refuseBody, SENT, type SendInParts } from '../rpc/core/answer.js'
import { type Dispatcher, dispatchFor, type ObserveCall } from '../rpc/core/dispatch.js'
import { CLOSE, encodeResponse, type ParsedBody, parseBody, sizeOf } from '../rpc/core/envelope.js'
import { INTERNAL_ERROR, type RpcErrorBody } from '../rpc/core/errors.js'
import type { ResultStream } from '../rpc/core/resultStream.js'
import type { Subscriber } from '../rpc/core/session.js'
import type { Client } from '../rpc/subscriptions/filters.js'
import type { Subscriptions } from '../rpc/subscriptions/subscriptions.js'
import { type Access, type Caller, clientOf, type Refusal, retryHeaders } from './access/access.js'
import { clientOfAddress } from './access/addresses.js'
import { type CorsPolicy, corsHeaders } from './access/cors.js'
import type { HostPolicy } from './access/hosts.js'
import { type Accounting, openRecord, type RequestRecord } from './accounting/requestRecord.js'
import type { HealthSource } from './admin/adminApp.js'
import type { MetricsPage } from './admin/metricsPage.js'
import { type Admission, BUSY } from './admission/admission.js'
import type { ServerLimits } from './admission/limits.js'
import { type OutputShare, type Reservation, SMALL_ANSWER_BYTES } from './admission/outputBudget.js'
import type { RefusalCounter } from './admission/refusals.js'
import type { HeadTracker } from './head/headTracker.js'
import { behindRefusal, HEAD_HEADER, parseMinBlock } from './head/minBlock.js'
import type { CompressionPolicy, Compressor } from './http/compression.js'
import type { Page } from './page/page.js'
import type { SqlEndpoint } from './sql/sqlEndpoint.js'

/** A GET request whose response is a stream. */
export interface StreamExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller | Refusal
}

/** Answers requests of one path with streams. */
export interface StreamEndpoint {
  handle(exchange: StreamExchange): void
}

/** Dependencies and options of the HTTP and WebSocket servers. */
export interface ServerOptions {
  readonly dispatcher: Dispatcher
  readonly subscriptions: Subscriptions
  readonly access: Access
  readonly admission: Admission
  readonly head: HeadTracker
  readonly limits: ServerLimits
  readonly cors: CorsPolicy
  readonly hosts: HostPolicy
  /** Read plain POST requests without Node's HTTP parser. */
  readonly plainHttp: boolean
  readonly compression: CompressionPolicy
  readonly health: HealthSource
  /** The page for browsers at `/`; undefined when it is not served. */
  readonly page: Page | undefined
  /** Undefined when `/metrics` is not served on this port. */
  readonly metricsPage: MetricsPage | undefined
  /** Answers SQL; undefined when it is not served. */
  readonly sql?: SqlEndpoint
  /** Streams blocks to replicas; undefined when they are not served. */
  readonly replication?: StreamEndpoint
  readonly metrics: Metrics
  readonly refusals: RefusalCounter
  /** Receives failures to read the keys. */
  readonly failures: FailureLog
  /** Undefined when requests are not recorded. */
  readonly accounting: Accounting | undefined
  readonly log: Logger
}

/** Sends the response to one request. */
export interface Reply {
  /** True when the client no longer waits for the response. */
  isGone(): boolean
  /** Also true when the client has ended its side, as nearly all clients that no longer wait do. */
  hasLeft(): boolean
  /** Sends the response, once. `headers` alternates names and values; body headers are added. `onTaken` is called once
   *  the kernel has accepted everything or the connection is gone. */
  send(status: number, headers: string[], parts: readonly Uint8Array[], onTaken?: () => void): void
  /** Sends a response of unknown length part by part, as the client reads it. Resolves once everything is written or
   *  the connection is gone. If a part is not available, closes the connection in the middle of the response. */
  sendParts(status: number, headers: string[], parts: AsyncIterable<Uint8Array>): Promise<void>
  /** True once `send` or `sendParts` was called. */
  isSent(): boolean
  /** Closes the connection without a response. */
  destroy(): void
}

/** The parts of a request that decide the form of its response. */
export interface ClientFacts {
  readonly origin: string | undefined
  readonly acceptEncoding: string | undefined
  /** The `Cairn-Min-Block` header. */
  readonly minBlock: string | undefined
  readonly remoteAddress: string | undefined
  /** For the access log: the masked key, or the name of the caller. */
  readonly key: string | undefined
}

/** A request with calls and its pending response. */
export interface Exchange {
  readonly options: ServerOptions
  readonly compressor: Compressor
  readonly client: ClientFacts
  readonly reply: Reply
  /** The share of its connection. */
  readonly outputShare: OutputShare
  /** Response headers, alternating names and values. */
  readonly headers: string[]
  /** Undefined when requests are not recorded. */
  readonly record: RequestRecord | undefined
}

/** Longer bodies, in bytes or characters, are decoded and parsed within the time that batches share: 60 concurrent
 *  batches of 130 KB take 3 ms each. */
const SMALL_BODY_LENGTH = 16_384

const JSON_TYPES = ['application/json', 'application/json-rpc', 'application/jsonrequest']

/** Starts an exchange with the headers that every response has. */
export function beginExchange(
  options: ServerOptions,
  parts: { compressor: Compressor; client: ClientFacts; reply: Reply; outputShare: OutputShare },
): Exchange {
  const head = options.head.text()
  const headers = head === undefined ? [] : [HEAD_HEADER, head]
  for (const [name, value] of corsHeaders(options.cors, parts.client.origin)) headers.push(name, value)
  const { accounting } = options
  if (accounting === undefined) return { options, ...parts, headers, record: undefined }
  const { key, remoteAddress } = parts.client
  const record = openRecord(accounting, { transport: 'http', remoteAddress, key })
  const reply = accounting.accessLog === undefined ? parts.reply : recordReply(parts.reply, record)
  return { options, ...parts, reply, headers, record }
}

/** Updates the head in the response headers. */
export function stampHead({ headers, options }: Exchange): void {
  const head = options.head.text()
  if (head === undefined) return
  if (headers[0] === HEAD_HEADER) headers[1] = head
  else headers.unshift(HEAD_HEADER, head)
}

/** Reports the end of the reply to the record. */
function recordReply(reply: Reply, record: RequestRecord): Reply {
  return {
    ...reply,
    isGone() {
      const isGone = reply.isGone()
      if (isGone) record.end(CLIENT_LEFT, 0)
      return isGone
    },
    send(status, headers, parts, onTaken) {
      record.end(status, sizeOf(parts))
      reply.send(status, headers, parts, onTaken)
    },
    async sendParts(status, headers, parts) {
      let sizeBytes = 0
      const count = async function* () {
        for await (const part of parts) {
          sizeBytes += part.length
          yield part
        }
      }
      await reply.sendParts(status, headers, count())
      record.end(reply.isGone() ? CLIENT_LEFT : status, sizeBytes)
    },
    destroy() {
      record.end(CLIENT_LEFT, 0)
      reply.destroy()
    },
  }
}

/** The status of a request whose client did not wait for the response, as in nginx. */
export const CLIENT_LEFT = 499

/** Answers the calls of a body. Synchronous when the result is available at once, so that no promise is created for
 *  such a call. Exceptions are logged and answered with status 500. */
export function answerCalls(exchange: Exchange, caller: Caller, body: string | Buffer): void {
  const { minBlock } = exchange.client
  attempt(exchange, () =>
    minBlock === undefined ? answer(exchange, caller, body) : answerFrom(exchange, { caller, body, minBlock }),
  )
}

/** Answers once the head has reached the client's minimum block, or refuses. */
function answerFrom(
  exchange: Exchange,
  { caller, body, minBlock }: { caller: Caller; body: string | Buffer; minBlock: string },
): void {
  const { options, outputShare, client } = exchange
  const { admission, head, refusals } = options
  const wanted = parseMinBlock(minBlock)
  if (typeof wanted !== 'number') {
    refusals.count('bad_min_block')
    return void sendError(exchange, 400, wanted)
  }
  const refuse = (refusal: Refusal) => sendRefusal(exchange, refusal, parseBody(body.toString()))
  const release = admission.takeSlot({ caller, outputShare, remoteAddress: client.remoteAddress }, body.length)
  if (typeof release !== 'function') return void refuse(release)
  head.whenReached(wanted, (isReached) => {
    release()
    attempt(exchange, () => {
      stampHead(exchange)
      return isReached ? answer(exchange, caller, body) : refuse(behindRefusal(head.number(), wanted))
    })
  })
}

/** Answers the whole request with an error. */
export function sendError({ reply, headers, record }: Exchange, status: number, error: RpcErrorBody): void {
  record?.refuse(error)
  reply.send(status, headers, encodeResponse('null', { error }))
}

/** Answers every call of a body with the refusal; the id is null when none is known. */
export function sendRefusal({ reply, headers, options, record }: Exchange, refusal: Refusal, body: ParsedBody): void {
  const { error, status, reason } = refusal
  options.refusals.count(reason)
  record?.refuse(error)
  headers.push(...retryHeaders(refusal))
  reply.send(status, headers, refuseBody(body, error) ?? encodeResponse('null', { error }))
}

/** Error message for the content headers of a request; undefined when they are valid. */
export function checkContentHeaders(
  contentType: string | undefined,
  contentEncoding: string | undefined,
): string | undefined {
  const type = (contentType ?? '').split(';')[0].trim().toLowerCase()
  if (!JSON_TYPES.includes(type)) return `content type must be ${JSON_TYPES.join(', ')}`
  if (contentEncoding !== undefined && contentEncoding !== 'identity') return 'compressed request bodies are not taken'
  return undefined
}

/** Calls that a body counts as for the rate limit. */
export function callCount(body: ParsedBody): number {
  return body.kind === 'single' ? 1 : body.items.length
}

/** The dispatcher for the calls of a body: scheduled in the client's share, and limited to the methods of its key. */
export function dispatcherOf(
  { access, dispatcher, subscriptions }: ServerOptions,
  parts: {
    caller: Caller
    outputShare: OutputShare
    body: ParsedBody
    remoteAddress: string | undefined
    subscriber?: Subscriber
    observe?: ObserveCall
  },
): Dispatcher {
  const { caller, outputShare, body, subscriber, observe } = parts
  const openSession = () => ({ filters: subscriptions.filtersOf(ownerOf(parts)), subscriber })
  const refusal = access.guardCalls(caller, body.kind === 'batch')
  return dispatchFor(dispatcher, { client: clientOf(caller, outputShare), openSession, refusal, observe })
}

/** Owner of filters and subscriptions. */
export function ownerOf({ caller, remoteAddress }: { caller: Caller; remoteAddress: string | undefined }): Client {
  return { keyId: caller.keyId, countedAs: caller.keyId ?? clientOfAddress(remoteAddress) }
}

/** Runs a step of an exchange. An exception is logged, ends the exchange and releases its reservation. */
export function attempt(exchange: Exchange, step: () => void | Promise<void>, reservation?: Reservation): void {
  const { options, reply } = exchange
  const fail = (error: unknown) => {
    reservation?.release()
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
    work: () => (exchange.reply.isGone() ? undefined : answerText(exchange, caller, body)),
    refuse() {
      exchange.options.refusals.count(BUSY.reason)
      exchange.headers.push(...retryHeaders(BUSY))
      sendError(exchange, BUSY.status, BUSY.error)
    },
  })
}

/** Decodes and parses a body of `length` with `work`: a short one at once, a long one within the time that batches
 *  share. Refuses a body that has to wait when there is no memory for it. */
export function inSharedTime(
  { admission, dispatcher }: ServerOptions,
  length: number,
  { work, refuse }: { work: () => void | Promise<void>; refuse: () => void },
): void | Promise<void> {
  if (length <= SMALL_BODY_LENGTH) return work()
  const byteShare = admission.bodies.open()
  if (!byteShare.resize(length)) return refuse()
  const timeShare = dispatcher.timeBudget?.join()
  const workInTurn = () => {
    byteShare.release()
    try {
      return work()
    } finally {
      timeShare?.leave()
    }
  }
  const turn = timeShare?.wait()
  return turn === undefined ? workInTurn() : turn.then(workInTurn)
}

function answerText(exchange: Exchange, caller: Caller, bytes: string | Buffer): void | Promise<void> {
  const { access, admission } = exchange.options
  const text = bytes.toString()
  const body = parseBody(text)
  const observe = exchange.record?.receive(caller, body, Buffer.byteLength(bytes))
  const refusal = access.refuse(caller, callCount(body))
  if (refusal !== undefined) return sendRefusal(exchange, refusal, body)
  const { outputShare, client, reply } = exchange
  const calls = dispatcherOf(exchange.options, {
    caller,
    outputShare,
    body,
    remoteAddress: client.remoteAddress,
    observe,
  })
  if (!admission.isNeeded(body)) {
    const parts = answerBody(body, calls, undefined, sendInParts(exchange))
    return parts instanceof Promise
      ? parts.then((later) => sendAnswer(exchange, body, later))
      : sendAnswer(exchange, body, parts)
  }
  admission.admit({
    caller,
    outputShare,
    remoteAddress: client.remoteAddress,
    text,
    body,
    isGone: () => reply.isGone(),
    begin: (reservation) =>
      attempt(exchange, () => answerIn(exchange, { dispatcher: calls, body, reservation }), reservation),
    refuse: (busy) => sendRefusal(exchange, busy, body),
  })
}

/** Answers a body after its response was admitted. A batch is aborted when its client disconnects. */
function answerIn(
  exchange: Exchange,
  { dispatcher, body, reservation }: { dispatcher: Dispatcher; body: ParsedBody; reservation: Reservation },
): void | Promise<void> {
  const { reply } = exchange
  const conditions = body.kind === 'batch' ? { cancelSignal: cancelSignalOf(reply), reservation } : undefined
  const send = (parts: Response) => {
    if (conditions === undefined || !reply.hasLeft()) return sendAnswer(exchange, body, parts, reservation)
    reservation.release()
    reply.destroy()
  }
  const parts = answerBody(body, dispatcher, conditions, sendInParts(exchange, reservation))
  return parts instanceof Promise ? parts.then(send) : send(parts)
}

/** Sends the response to a call while its result is produced, uncompressed. Keeps a few megabytes in memory, whatever
 *  the response's length. */
function sendInParts({ reply, headers, outputShare, options }: Exchange, reserved?: Reservation): SendInParts {
  return async (beginning, rest) => {
    const reservation = reserved ?? options.admission.output.reserveNow(outputShare, PARTS_BYTES)
    if (reservation?.settle(PARTS_BYTES) !== true || reply.isGone()) {
      rest.cancel()
      reply.destroy()
    } else await reply.sendParts(200, headers, partsOf(beginning, rest))
    reservation?.release()
  }
}

// Buffered by threads and sockets for one response.
const PARTS_BYTES = 4_000_000

async function* partsOf(beginning: readonly Uint8Array[], rest: ResultStream): AsyncGenerator<Uint8Array> {
  try {
    yield* beginning
    for (let part = await rest.next(); part !== undefined; part = await rest.next()) {
      if (part.length > 0) yield part
    }
    yield CLOSE
  } finally {
    rest.cancel()
  }
}

/** Created here and not per call: V8 gives each object literal with a getter its own hidden class, which outlives
 *  it. */
function cancelSignalOf(reply: Reply): CancelSignal {
  return {
    get aborted() {
      return reply.hasLeft()
    },
  }
}

/** Sends the response to a call or a batch, compressed if worthwhile. Sends an error when there is no memory to hold
 *  the response until the client has read it. */
function sendAnswer(
  exchange: Exchange,
  body: ParsedBody,
  parts: Response,
  reserved?: Reservation,
): void | Promise<void> {
  const { compressor, client, reply, headers, outputShare, options } = exchange
  if (parts === SENT || reply.isGone()) return reserved?.release()
  if (parts === undefined) return reply.send(204, headers, [], () => reserved?.release())
  const size = sizeOf(parts)
  const reservation =
    reserved ?? (size > SMALL_ANSWER_BYTES ? options.admission.output.reserveNow(outputShare, size) : undefined)
  if (size > SMALL_ANSWER_BYTES && reservation?.settle(size) !== true) {
    reserved?.release()
    return sendRefusal(exchange, BUSY, body)
  }
  const onTaken = reservation && (() => reservation.release())
  if (compressor.varies(size)) headers.push('Vary', 'Accept-Encoding')
  const coding = compressor.codingFor(client, size)
  if (coding === undefined) return reply.send(200, headers, parts, onTaken)
  return compressor.compress(parts, coding, reply).then((compressed) => {
    if (compressed === undefined || reply.isGone()) return reservation?.release()
    headers.push('Content-Encoding', coding)
    reply.send(200, headers, [compressed], onTaken)
  })
}
