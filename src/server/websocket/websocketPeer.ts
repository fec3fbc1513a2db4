import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { describeError } from '../../lib/errors.js'
import type { ObserveCall } from '../../rpc/core/clientDispatcher.js'
import { callCount, type ParsedBody, parseBody } from '../../rpc/core/envelope.js'
import { SERVER_BUSY } from '../../rpc/core/errors.js'
import { type CancelSignal, executeBody, refuseCalls } from '../../rpc/core/execute.js'
import type { Response } from '../../rpc/core/executeCall.js'
import { encodeResponse, sizeOf } from '../../rpc/core/responseBytes.js'
import type { ConnectedSubscriber } from '../../rpc/subscriptions/subscribers.js'
import { type Caller, clientOf, type Refusal } from '../access/access.js'
import { openRecord, type RequestRecord } from '../accounting/requestRecord.js'
import { BUSY } from '../admission/admission.js'
import type { ByteShare } from '../admission/byteBudget.js'
import { type OutputShare, type Reservation, SMALL_ANSWER_BYTES } from '../admission/outputBudget.js'
import type { ReadBudget, ReadShare } from '../admission/readBudget.js'
import type { QueuedWork, RequestQueue } from '../admission/requestQueue.js'
import { createStallDetector, type StallDetector } from '../admission/stallDetector.js'
import { clientDispatcher, ownerOf } from '../clientCalls.js'
import type { IdleTracker } from '../connections/connections.js'
import { CLIENT_LEFT, type ServerOptions } from '../exchange.js'
import { inSharedTime } from '../handleRequest.js'
import { createFrameMeter } from './frameMeter.js'

/** Concurrent messages of one socket; above that, it is not read from. */
const MAX_RUNNING = 256

/** A client with more unread bytes does not receive the next part of a backlog. */
const BACKLOG_BYTES = 65_536

/** Policy violation (RFC 6455, 7.4.1): the key was revoked, or the message arrives too slowly. */
export const CLOSE_POLICY = 1008
/** Going away (RFC 6455, 7.4.1). */
const CLOSE_GOING_AWAY = 1001
/** Try again later (registered with IANA by RFC 6455's rules): there is no memory for the peer's data. */
const CLOSE_TRY_AGAIN = 1013

const NOTHING = { calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, ms: 0 }

/** What all peers of a server share. */
export interface PeerContext {
  readonly options: ServerOptions
  readonly peers: Set<Peer>
  readonly reads: ReadBudget
  readonly requestQueue: RequestQueue
  /** True once no more messages are accepted. */
  isStopping: boolean
  /** Messages received. */
  received: number
}

/** An upgraded connection. */
interface PeerConnection {
  readonly socket: WebSocket
  readonly stream: Socket
  readonly outputShare: OutputShare
  readonly idleTracker: IdleTracker
  readonly caller: Caller
}

/** How a message is recorded, if it is. */
interface Recording {
  readonly record: RequestRecord | undefined
  readonly observe: ObserveCall | undefined
}

/** Returns the methods that the limits of a key name, joined by commas; undefined where they name none. */
export function methodsOf({ limits }: Caller): string | undefined {
  return limits?.methods?.join()
}

/** One end of an open socket. Answers its messages, each as soon as the socket may have another response: in turns with
 *  the other sockets that have sent more than can be answered at once. */
export class Peer implements QueuedWork {
  readonly socket: WebSocket
  readonly stream: Socket
  readonly caller: Caller
  readonly subscriber: ConnectedSubscriber
  /** The methods of the key when the oldest of the subscriptions was made, or at the newest message without
   *  subscriptions. */
  methods: string | undefined
  /** False from a ping until the peer sends data: its pong at the latest. */
  isAlive = true
  readonly #context: PeerContext
  readonly #outputShare: OutputShare
  readonly #idleTracker: IdleTracker
  readonly #remoteAddress: string | undefined
  readonly #cancelSignal: CancelSignal
  /** Budget share of received and waiting messages. */
  readonly #byteShare: ByteShare
  readonly #meter = createFrameMeter()
  /** Read share of incomplete messages. */
  readonly #readShare: ReadShare
  /** Messages in progress. */
  #running = 0
  /** Messages that wait for their turn. */
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  /** Whether the first of them is in the request queue. */
  #isQueued = false
  /** Progress of an incomplete message. */
  #progress: StallDetector | undefined

  /** Adds itself to the peers of `context`. */
  constructor({ socket, stream, outputShare, idleTracker, caller }: PeerConnection, context: PeerContext) {
    const { admission, subscriptions } = context.options
    this.socket = socket
    this.stream = stream
    this.caller = caller
    this.methods = methodsOf(caller)
    this.#context = context
    this.#outputShare = outputShare
    this.#idleTracker = idleTracker
    this.#remoteAddress = stream.remoteAddress
    this.#cancelSignal = cancelSignalOf(socket)
    this.#byteShare = admission.bodies.open()
    const resume = () => this.#proceed()
    this.#readShare = context.reads.open({ pause: resume, resume })
    idleTracker.upgrade()
    this.subscriber = subscriptions.connect(ownerOf({ caller, remoteAddress: stream.remoteAddress }), {
      send: (messages) => this.#notify(messages),
      cutOff: (reason) => this.#cutOff(reason),
      hasRoom: () => socket.bufferedAmount < BACKLOG_BYTES && outputShare.hasRoom(),
    })
    context.peers.add(this)
    stream.prependListener('data', (chunk: Buffer) => this.#measure(chunk))
    socket.on('message', (message) => this.#receive(message as Buffer))
    socket.on('close', () => this.#close())
  }

  /** Messages that wait for their turn, or for memory for their responses. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  /** Starts the next message, in its turn. */
  begin(): void {
    this.#isQueued = false
    const message = this.#mayBegin() ? this.#waiting.shift() : undefined
    if (message === undefined) return
    this.#waitingBytes -= message.length
    this.#charge()
    this.#scheduleParse(message)
    this.#proceed()
  }

  /** Ends the socket if its incomplete message has stalled. */
  sweep(nowMs: number): void {
    const { limits, refusals } = this.#context.options
    const bytes = this.#meter.unfinishedBytes()
    if (bytes === 0 || this.socket.isPaused) {
      this.#progress = undefined
      return
    }
    this.#progress ??= createStallDetector({ stallMs: limits.bodyStallMs, leastBytes: limits.bodyLeastBytes }, nowMs)
    if (!this.#progress.isStalled(bytes, nowMs)) return
    refusals.count('too_slow')
    this.socket.close(CLOSE_POLICY, 'message timed out')
    this.socket.terminate()
  }

  /** Ends answered messages. A stopping server closes the socket after the last one. */
  end(messages: number): void {
    this.#running -= messages
    if (this.#context.isStopping && this.#running === 0) this.socket.close(CLOSE_GOING_AWAY, 'server is stopping')
    this.#proceed()
  }

  #receive(message: Buffer): void {
    this.#context.received++
    this.#waiting.push(message)
    this.#waitingBytes += message.length
    this.#proceed()
  }

  /** True if the next message may start. */
  #mayBegin(): boolean {
    return this.#running < MAX_RUNNING && this.#outputShare.hasRoom()
  }

  /** True with messages in progress or waiting. */
  #isBusy(): boolean {
    return this.#running > 0 || this.#waiting.length > 0
  }

  /** Queues itself if messages wait, and reads from the socket while none does. */
  #proceed(): void {
    const { socket } = this
    if (this.#waiting.length > 0 && this.#mayBegin() && !this.#isQueued) {
      this.#isQueued = true
      this.#context.requestQueue.run(clientOf(this.caller, socket), this)
    }
    const isFull = this.#waiting.length > 0 || !this.#mayBegin() || this.#readShare.isWaiting()
    if (isFull && !socket.isPaused) socket.pause()
    else if (!isFull && socket.isPaused) socket.resume()
    if (this.#isBusy()) this.#idleTracker.begin()
    else this.#idleTracker.end(this.subscriber.isActive())
  }

  #scheduleParse(message: Buffer): void {
    this.#running++
    const { options } = this.#context
    const { accounting } = options
    const origin = { transport: 'ws', remoteAddress: this.#remoteAddress, key: this.caller.name } as const
    const record = accounting && openRecord(accounting, origin)
    const begun = inSharedTime(options, message.length, {
      work: () => this.#parseMessage(message, record),
      refuse: () => {
        this.#countRefusal(record, BUSY)
        this.#send(encodeResponse('null', { error: SERVER_BUSY }))
        this.end(1)
      },
    })
    begun?.catch((error: unknown) => this.#fail(error))
  }

  /** Parses a message, charges the rate limit, and executes its calls, at once or when there is memory for the
   *  response. */
  #parseMessage(message: Buffer, record: RequestRecord | undefined) {
    const { isStopping, options } = this.#context
    const text = message.toString()
    const { caller, socket } = this
    if (isStopping || socket.readyState !== socket.OPEN) return this.end(1)
    const body = parseBody(text)
    const observe = record?.receive(caller, body, message.length)
    const refusal = options.access.refuse(caller, callCount(body))
    if (!this.subscriber.isActive()) this.methods = methodsOf(caller)
    if (refusal !== undefined) {
      this.#countRefusal(record, refusal)
      this.#send(refuseCalls(body, refusal.error))
      if (!options.access.isLive(caller)) socket.close(CLOSE_POLICY, 'API key revoked')
      return this.end(1)
    }
    if (!options.admission.isNeeded(body)) return this.#execute(body, { record, observe })
    options.admission.admit({
      caller,
      outputShare: this.#outputShare,
      remoteAddress: this.#remoteAddress,
      text,
      body,
      isGone: () => this.#cancelSignal.aborted,
      begin: (reservation) => this.#execute(body, { record, observe }, reservation),
      refuse: (busy) => {
        this.#countRefusal(record, busy)
        this.end(1)
        this.#send(refuseCalls(body, busy.error))
      },
    })
  }

  #countRefusal(record: RequestRecord | undefined, { status, error, reason }: Refusal): void {
    this.#context.options.refusals.count(reason)
    record?.refuse(error)
    record?.end(status, 0)
  }

  #execute(body: ParsedBody, { record, observe }: Recording, reservation?: Reservation): void {
    const { caller, subscriber } = this
    const [outputShare, remoteAddress, cancelSignal] = [this.#outputShare, this.#remoteAddress, this.#cancelSignal]
    const conditions = reservation && { cancelSignal, reservation }
    const parts = { caller, outputShare, body, remoteAddress, subscriber, observe }
    const dispatcher = clientDispatcher(this.#context.options, parts)
    const finish = (response: Response) => {
      this.#running--
      record?.end(cancelSignal.aborted ? CLIENT_LEFT : 200, sizeOf(response ?? []))
      // First: a client that has the response may make a block at once, and waits for its notification.
      subscriber.begin()
      this.#respond(body, response, reservation)
      subscriber.flush()
      this.end(0)
    }
    const response = executeBody(body, dispatcher, conditions)
    if (!(response instanceof Promise)) {
      finish(response)
      return
    }
    response.then(finish).catch((error: unknown) => {
      reservation?.release()
      this.#fail(error)
    })
  }

  #fail(error: unknown): void {
    this.#context.options.log.error({ error: describeError(error) }, 'a response failed')
    this.socket.terminate()
  }

  #respond(body: ParsedBody, parts: Response, reservation: Reservation | undefined) {
    const { admission, refusals } = this.#context.options
    if (parts === undefined || this.socket.readyState !== this.socket.OPEN) return reservation?.release()
    const size = sizeOf(parts)
    const reserved = reservation?.resize(size) ? reservation : admission.output.reserveNow(this.#outputShare, size)
    if (reservation !== reserved) reservation?.release()
    // Small responses that a socket does not read take little memory: no more messages are started for it.
    if (reserved === undefined && size > SMALL_ANSWER_BYTES) {
      refusals.count('memory')
      return this.#send(refuseCalls(body, SERVER_BUSY))
    }
    this.#send(parts, () => reserved?.release())
  }

  #send(parts: Response, onTaken?: () => void) {
    if (parts === undefined || this.socket.readyState !== this.socket.OPEN) return onTaken?.()
    this.socket.send(Buffer.concat(parts), { binary: false }, () => {
      onTaken?.()
      this.#proceed()
    })
  }

  /** Sends notifications in one write. A client that does not read them is disconnected. */
  #notify(messages: readonly Buffer[]) {
    const { socket, stream } = this
    const { admission, limits, accounting } = this.#context.options
    if (socket.readyState !== socket.OPEN) return
    const size = sizeOf(messages)
    const queued = socket.bufferedAmount
    const fits = queued === 0 || queued + size <= limits.notificationBytes
    const reserved = fits
      ? (admission.output.reserveNow(this.#outputShare, size) ?? this.#reserveFromSlowest(size))
      : undefined
    if (reserved === undefined) return this.#cutOffUnread()
    const { keyId } = this.caller
    if (keyId !== undefined) accounting?.usage?.add(keyId, 'eth_subscribe', { ...NOTHING, bytesOut: size })
    stream.cork()
    for (const [i, message] of messages.entries()) {
      socket.send(message, { binary: false }, i === messages.length - 1 ? () => reserved.release() : undefined)
    }
    stream.uncork()
  }

  /** Reserves memory for notifications by disconnecting the client with the most unread bytes among those with
   *  subscriptions. */
  #reserveFromSlowest(size: number): Reservation | undefined {
    let most: Peer | undefined
    for (const each of this.#context.peers) {
      if (each.subscriber.isActive() && each.socket.bufferedAmount > (most?.socket.bufferedAmount ?? 0)) most = each
    }
    if (most === undefined || most === this) return undefined
    most.#cutOffUnread()
    most.socket.terminate()
    return this.#context.options.admission.output.reserveNow(this.#outputShare, size)
  }

  #cutOffUnread(): void {
    this.#context.options.refusals.count('unread')
    this.#cutOff('notifications were not read; subscribe again')
  }

  #cutOff(reason: string): void {
    this.subscriber.close()
    this.socket.close(CLOSE_TRY_AGAIN, reason)
  }

  /** Charges the bytes that the peer has sent; disconnects it when there is no memory for them. */
  #charge(): void {
    if (this.#byteShare.resize(this.#meter.unfinishedBytes() + this.#waitingBytes)) return
    this.#context.options.refusals.count('memory')
    this.socket.close(CLOSE_TRY_AGAIN, 'server busy')
    this.socket.terminate()
  }

  #measure(chunk: Buffer): void {
    this.isAlive = true
    const meter = this.#meter
    const before = meter.finished()
    meter.feed(chunk)
    if (meter.finished() > before || meter.unfinishedBytes() === 0) this.#progress = undefined
    if (meter.unfinishedBytes() > 0) {
      this.#readShare.count(chunk.length)
      if (!this.#isBusy()) this.#idleTracker.receive()
    }
    this.#charge()
  }

  #close(): void {
    this.#context.peers.delete(this)
    this.#waiting.length = 0
    this.subscriber.close()
    this.#byteShare.release()
    this.#readShare.close()
  }
}

function cancelSignalOf(socket: WebSocket): CancelSignal {
  return {
    get aborted() {
      return socket.readyState !== socket.OPEN
    },
  }
}
