import { connect, createServer, type Server, type Socket } from 'node:net'
import { isCall, type ParsedBody, parseBody } from '../../rpc/core/envelope.js'
import type { MethodTable } from '../../rpc/core/method.js'
import { createTimeBudget } from '../../rpc/core/timeBudget.js'
import type { Caller } from '../access/access.js'
import { clientOf } from '../access/access.js'
import { createHostCheck } from '../access/hosts.js'
import type { RateLimiter } from '../access/rateLimit.js'
import { createReadBudget } from '../admission/readBudget.js'
import { createRequestQueue } from '../admission/requestQueue.js'
import { createWriteQueue } from '../admission/writeQueue.js'
import { clientDispatcher } from '../clientCalls.js'
import { watchConnections } from '../connections/connections.js'
import { beginExchange, type CallOptions } from '../exchange.js'
import { executeRequest } from '../executeRequest.js'
import { createCompressor } from '../http/compression.js'
import { createPlainAdmit, plainTimeouts } from '../http/plainCalls.js'
import { takePlainRequests } from '../plain/plainConnections.js'
import type { PlainHandler } from '../plain/plainRequest.js'
import { respondFailure, respondRefusal } from '../respond.js'
import { NeedsMainThread } from './localCalls.js'
import type { AcceptorData } from './messages.js'
import type { RequestPasser } from './requestPasser.js'

/** Longer bodies are passed: their parsing shares the time of batches on the main thread. */
const MAX_LOCAL_CHARACTERS = 16_384

type PlainAnswer = Parameters<PlainHandler<Caller>['answer']>

/** A server of plain requests in a thread, not listening yet. */
export interface AcceptorServer {
  readonly server: Server
  closeIdle(): void
  closeAll(): void
}

/** What the server of an acceptor thread needs. */
interface AcceptorOptions extends CallOptions {
  readonly data: AcceptorData
  /** The methods that run in the thread. */
  readonly methods: MethodTable
  readonly limiter: RateLimiter
  readonly passer: RequestPasser
  /** Called for each call that was answered in the thread. */
  onCall(): void
}

/** Creates the server of an acceptor thread. It answers single calls of `methods` by plain requests, passes other plain
 *  requests to the main thread, and passes connections with anything else on as they are. */
export function createAcceptorServer(options: AcceptorOptions): AcceptorServer {
  const { data, limits, admission, access, refusals, metrics } = options
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  const reads = createReadBudget()
  const { output, bodies } = admission
  const slots = options.connectionSlots
  const connections = watchConnections(server, { limits, output, reads, metrics, slots })
  server.on('connection', (socket) => {
    connections.pass(socket)
    passConnection(socket, data.passing)
  })
  const compressor = createCompressor(options.compression)
  const answer = (...[request, reply]: PlainAnswer) => {
    const { head, admitted: caller, body, socket } = request
    const pass = (isCharged: boolean) => options.passer.pass({ head, body, socket, isCharged }, reply)
    const parsed = localBody(options, request)
    if (parsed === undefined) return pass(false)
    const { origin, acceptEncoding } = head
    const { remoteAddress } = socket
    const client = { origin, acceptEncoding, minBlock: undefined, remoteAddress, key: caller.name }
    const outputShare = connections.outputShareOf(socket)
    const exchange = beginExchange(options, { compressor, client, reply, outputShare })
    const fail = (error: unknown) => (error instanceof NeedsMainThread ? pass(true) : respondFailure(exchange, error))
    try {
      const observe = exchange.record?.receive(caller, parsed, Buffer.byteLength(body))
      const refusal = access.refuse(caller, 1)
      if (refusal !== undefined) return respondRefusal(exchange, refusal, parsed)
      const dispatcher = clientDispatcher(options, { caller, outputShare, body: parsed, remoteAddress, observe })
      const sent = executeRequest(exchange, parsed, dispatcher)
      if (sent === undefined) options.onCall()
      else sent.then(() => options.onCall(), fail)
    } catch (error) {
      fail(error)
    }
  }
  const plain = takePlainRequests<Caller>(server, {
    handler: {
      admit: createPlainAdmit({ access, isServedHost: createHostCheck(data.hosts), hasStreams: data.hasStreams }),
      clientOf,
      answer,
    },
    writeQueue: createWriteQueue(),
    timeouts: plainTimeouts(limits),
    bodies,
    reads,
    refusals,
    requestQueue: createRequestQueue(options.dispatcher.timeBudget ?? createTimeBudget()),
    admit: connections.admit,
    onSweep: connections.onSweep,
  })
  return { server, closeIdle: plain.closeIdle, closeAll: plain.closeAll }
}

/** The body of a request that is answered in the thread; undefined for one that is passed. */
function localBody(
  { methods, access, limiter }: AcceptorOptions,
  { head, admitted: { keyId, limits }, admitted, body }: PlainAnswer[0],
): ParsedBody | undefined {
  if (head.minBlock !== undefined || body.length > MAX_LOCAL_CHARACTERS || limits?.maxConcurrent !== undefined) {
    return undefined
  }
  // The main thread has the bucket of a key, and shares it when it answers.
  if (keyId !== undefined && access.isRateLimited(admitted) && !limiter.has(keyId)) return undefined
  const parsed = parseBody(body)
  return parsed.kind === 'single' && isCall(parsed.item) && methods.has(parsed.item.method) ? parsed : undefined
}

/** Passes a connection to the main thread: bytes are copied between it and a local socket. */
function passConnection(socket: Socket, { path, token }: AcceptorData['passing']): void {
  const { remoteAddress } = socket
  const inner = connect({ path, allowHalfOpen: true })
  inner.write(`${JSON.stringify({ token, remoteAddress })}\n`)
  socket.pipe(inner)
  inner.pipe(socket)
  for (const [one, other] of [
    [socket, inner],
    [inner, socket],
  ]) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroySoon())
  }
}
