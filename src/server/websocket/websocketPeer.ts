import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { describeError } from '../../lib/errors.js'
import { answerBody, type CancelSignal, type Response, refuseBody } from '../../rpc/core/answer.js'
import type { ObserveCall } from '../../rpc/core/dispatch.js'
import { encodeResponse, type ParsedBody, parseBody, sizeOf } from '../../rpc/core/envelope.js'
import { SERVER_BUSY } from '../../rpc/core/errors.js'
import type { ConnectedSubscriber, Link } from '../../rpc/subscriptions/subscribers.js'
import { type Caller, clientOf, type Refusal } from '../access/access.js'
import { openRecord, type RequestOrigin, type RequestRecord } from '../accounting/requestRecord.js'
import { BUSY } from '../admission/admission.js'
import type { ByteShare } from '../admission/byteBudget.js'
import { type OutputShare, type Reservation, SMALL_ANSWER_BYTES } from '../admission/outputBudget.js'
import type { ReadBudget, ReadShare } from '../admission/readBudget.js'
import type { RequestQueue } from '../admission/requestQueue.js'
import { createStallDetector, type StallDetector } from '../admission/stallDetector.js'
import type { IdleTracker } from '../connections/connections.js'
import { CLIENT_LEFT, callCount, dispatcherOf, inSharedTime, ownerOf, type ServerOptions } from '../exchange.js'
import { createFrameMeter, type FrameMeter } from './frameMeter.js'

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

/** One end of an open socket. */
export interface Peer {
  readonly socket: WebSocket
  readonly stream: Socket
  readonly caller: Caller
  /** The methods of the key when the oldest of the subscriptions was made, or at the newest message without
   *  subscriptions. */
  methods: string | undefined
  /** Messages in progress. */
  running: number
  /** False from a ping until the peer sends data: its pong at the latest. */
  isAlive: boolean
  readonly outputShare: OutputShare
  readonly idleTracker: IdleTracker
  readonly remoteAddress: string | undefined
  readonly cancelSignal: CancelSignal
  /** Budget share of received and waiting messages. */
  readonly byteShare: ByteShare
  readonly meter: FrameMeter
  /** Read share of incomplete messages. */
  readonly readShare: ReadShare
  /** Messages that wait for their turn. */
  readonly waiting: Buffer[]
  /** Whether the first of them waits for its turn. */
  isInLine: boolean
  waitingBytes: number
  /** Progress of an incomplete message. */
  coming: StallDetector | undefined
  readonly subscriber: ConnectedSubscriber
}

/** Returns the methods that the limits of a key name, joined by commas; undefined where they name none. */
export function methodsOf({ limits }: Caller): string | undefined {
  return limits?.methods?.join()
}

/** Receives the messages of all sockets and sends the responses. */
export interface Messages {
  /** Adds a peer on a connection that was just opened. */
  addPeer(parts: {
    socket: WebSocket
    stream: Socket
    outputShare: OutputShare
    idleTracker: IdleTracker
    caller: Caller
  }): Peer
  /** Ends sockets with a stalled message. */
  sweep(nowMs: number): void
  /** Accepts no more messages; closes each socket once its running messages are answered. */
  stop(): void
}

/** Answers messages of `peers`, each as soon as its socket has room for responses: in turns among the sockets that have
 *  sent more than can be answered at once. */
export function createMessages(
  options: ServerOptions,
  { peers, reads, requestQueue }: { peers: Set<Peer>; reads: ReadBudget; requestQueue: RequestQueue },
): Messages {
  const { access, admission, subscriptions, limits, log, refusals, metrics } = options
  const bodyRule = { stallMs: limits.bodyStallMs, leastBytes: limits.bodyLeastBytes }
  let isStopping = false
  let received = 0
  metrics.gauge('cairn_websocket_peers', 'Open WebSockets.', () => peers.size)
  metrics.counter('cairn_websocket_messages_total', 'Messages received on WebSockets.', () => received)
  metrics.gauge(
    'cairn_websocket_messages_waiting',
    'Messages that wait for their turn, or for reservation for their answers.',
    () => {
      let waiting = 0
      for (const peer of peers) waiting += peer.waiting.length
      return waiting
    },
  )

  const beginNext = (peer: Peer) => {
    peer.isInLine = false
    const message = mayBegin(peer) ? peer.waiting.shift() : undefined
    if (message === undefined) return
    peer.waitingBytes -= message.length
    count(peer)
    begin(peer, message)
    goOn(peer)
  }
  /** Queues a peer with waiting messages, and reads from it while it has none. */
  const goOn = (peer: Peer) => {
    const { socket } = peer
    if (peer.waiting.length > 0 && mayBegin(peer) && !peer.isInLine) {
      peer.isInLine = true
      requestQueue.run(clientOf(peer.caller, peer.socket), () => beginNext(peer))
    }
    const isFull = peer.waiting.length > 0 || !mayBegin(peer) || peer.readShare.isWaiting()
    if (isFull && !socket.isPaused) socket.pause()
    else if (!isFull && socket.isPaused) socket.resume()
    if (isBusy(peer)) peer.idleTracker.begin()
    else peer.idleTracker.end(peer.subscriber.isActive())
  }
  const receive = (peer: Peer, message: Buffer) => {
    received++
    peer.waiting.push(message)
    peer.waitingBytes += message.length
    goOn(peer)
  }

  const begin = (peer: Peer, message: Buffer) => {
    peer.running++
    const { accounting } = options
    const record = accounting && openRecord(accounting, originOf(peer))
    const begun = inSharedTime(options, message.length, {
      work: () => answerMessage(peer, message, record),
      refuse() {
        refusals.count('memory')
        refuseIn(record, BUSY)
        send(peer, encodeResponse('null', { error: SERVER_BUSY }))
        end(peer)
      },
    })
    begun?.catch((error: unknown) => fail(peer, error))
  }
  const refuseIn = (record: RequestRecord | undefined, { status, error }: Refusal) => {
    record?.refuse(error)
    record?.end(status, 0)
  }
  const answerMessage = (peer: Peer, message: Buffer, record: RequestRecord | undefined) => {
    const text = message.toString()
    if (isStopping || peer.socket.readyState !== peer.socket.OPEN) return end(peer)
    const { caller, outputShare, remoteAddress } = peer
    const body = parseBody(text)
    const observe = record?.receive(caller, body, message.length)
    const refusal = access.refuse(caller, callCount(body))
    if (!peer.subscriber.isActive()) peer.methods = methodsOf(caller)
    if (refusal !== undefined) {
      refusals.count(refusal.reason)
      refuseIn(record, refusal)
      send(peer, refuseBody(body, refusal.error))
      if (!access.isLive(caller)) peer.socket.close(CLOSE_POLICY, 'API key revoked')
      return end(peer)
    }
    const recording = { record, observe }
    if (!admission.isNeeded(body)) return answerWith(peer, body, recording)
    admission.admit({
      caller,
      outputShare,
      remoteAddress,
      text,
      body,
      isGone: () => peer.cancelSignal.aborted,
      begin: (reservation) => answerWith(peer, body, recording, reservation),
      refuse(busy) {
        refusals.count(busy.reason)
        refuseIn(record, busy)
        end(peer)
        send(peer, refuseBody(body, busy.error))
      },
    })
  }
  const answerWith = (
    peer: Peer,
    body: ParsedBody,
    { record, observe }: { record: RequestRecord | undefined; observe: ObserveCall | undefined },
    reservation?: Reservation,
  ) => {
    const { caller, outputShare, remoteAddress, subscriber, cancelSignal } = peer
    const conditions = reservation && { cancelSignal, reservation }
    const calls = dispatcherOf(options, { caller, outputShare, body, remoteAddress, subscriber, observe })
    const finish = (parts: Response) => {
      peer.running--
      record?.end(cancelSignal.aborted ? CLIENT_LEFT : 200, sizeOf(parts ?? []))
      sendAnswer(peer, { body, parts, reservation })
      subscriber.begin()
      end(peer, 0)
    }
    const parts = answerBody(body, calls, conditions)
    if (!(parts instanceof Promise)) return finish(parts)
    parts.then(finish).catch((error: unknown) => {
      reservation?.release()
      fail(peer, error)
    })
  }
  const fail = (peer: Peer, error: unknown) => {
    log.error({ error: describeError(error) }, 'a response failed')
    peer.socket.terminate()
  }
  const sendAnswer = (
    peer: Peer,
    { body, parts, reservation }: { body: ParsedBody; parts: Response; reservation?: Reservation },
  ) => {
    if (parts === undefined || peer.socket.readyState !== peer.socket.OPEN) return reservation?.release()
    const size = sizeOf(parts)
    const held = reservation?.settle(size) ? reservation : admission.output.reserveNow(peer.outputShare, size)
    if (reservation !== held) reservation?.release()
    // Small responses that a socket does not read take little memory: no more messages are started for it.
    if (held === undefined && size > SMALL_ANSWER_BYTES) {
      refusals.count('memory')
      return send(peer, refuseBody(body, SERVER_BUSY))
    }
    send(peer, parts, () => held?.release())
  }
  /** Sends notifications in one write. A client that does not read them is disconnected. */
  const notify = (peer: Peer, messages: readonly Buffer[]) => {
    const { socket, stream, outputShare } = peer
    if (socket.readyState !== socket.OPEN) return
    const size = sizeOf(messages)
    const queued = socket.bufferedAmount
    const fits = queued === 0 || queued + size <= limits.notificationBytes
    const reservation = fits ? (admission.output.reserveNow(outputShare, size) ?? makeRoom(peer, size)) : undefined
    if (reservation === undefined) return cutOffUnread(peer)
    const { keyId } = peer.caller
    if (keyId !== undefined) options.accounting?.usage?.add(keyId, 'eth_subscribe', { ...NOTHING, bytesOut: size })
    stream.cork()
    for (const [i, message] of messages.entries()) {
      socket.send(message, { binary: false }, i === messages.length - 1 ? () => reservation.release() : undefined)
    }
    stream.uncork()
  }
  /** Frees memory for notifications by disconnecting the client with the most unread bytes among those with
   *  subscriptions. */
  const makeRoom = (peer: Peer, size: number) => {
    let most: Peer | undefined
    for (const each of peers) {
      if (each.subscriber.isActive() && each.socket.bufferedAmount > (most?.socket.bufferedAmount ?? 0)) most = each
    }
    if (most === undefined || most === peer) return undefined
    cutOffUnread(most)
    most.socket.terminate()
    return admission.output.reserveNow(peer.outputShare, size)
  }
  const cutOffUnread = (peer: Peer) => {
    refusals.count('unread')
    cutOff(peer, 'notifications were not read; subscribe again')
  }
  const cutOff = (peer: Peer, reason: string) => {
    peer.subscriber.close()
    peer.socket.close(CLOSE_TRY_AGAIN, reason)
  }
  const send = (peer: Peer, parts: Response, onTaken?: () => void) => {
    if (parts === undefined || peer.socket.readyState !== peer.socket.OPEN) return onTaken?.()
    peer.socket.send(Buffer.concat(parts), { binary: false }, () => {
      onTaken?.()
      goOn(peer)
    })
  }
  /** Ends an answered message. */
  const end = (peer: Peer, messages = 1) => {
    peer.running -= messages
    if (isStopping && peer.running === 0) peer.socket.close(CLOSE_GOING_AWAY, 'server is stopping')
    goOn(peer)
  }

  /** Counts the bytes that the peer has sent; disconnects it when there is no memory for them. */
  const count = (peer: Peer) => {
    if (peer.byteShare.resize(peer.meter.unfinishedBytes() + peer.waitingBytes)) return
    refusals.count('memory')
    peer.socket.close(CLOSE_TRY_AGAIN, 'server busy')
    peer.socket.terminate()
  }
  const measure = (peer: Peer, chunk: Buffer) => {
    peer.isAlive = true
    const before = peer.meter.finished()
    peer.meter.feed(chunk)
    if (peer.meter.finished() > before || peer.meter.unfinishedBytes() === 0) peer.coming = undefined
    if (peer.meter.unfinishedBytes() > 0) {
      peer.readShare.count(chunk.length)
      if (!isBusy(peer)) peer.idleTracker.receive()
    }
    count(peer)
  }
  const forget = (peer: Peer) => {
    peers.delete(peer)
    peer.waiting.length = 0
    peer.subscriber.close()
    peer.byteShare.release()
    peer.readShare.close()
  }
  return {
    addPeer({ socket, stream, outputShare, idleTracker, caller }) {
      idleTracker.upgrade()
      const link: Link = {
        send: (messages) => notify(peer, messages),
        cutOff: (reason) => cutOff(peer, reason),
        hasRoom: () => socket.bufferedAmount < BACKLOG_BYTES && outputShare.hasRoom(),
      }
      const peer: Peer = {
        socket,
        stream,
        caller,
        running: 0,
        isAlive: true,
        outputShare,
        idleTracker,
        remoteAddress: stream.remoteAddress,
        cancelSignal: cancelSignalOf(socket),
        byteShare: admission.bodies.open(),
        meter: createFrameMeter(),
        readShare: reads.open({ pause: () => goOn(peer), resume: () => goOn(peer) }),
        waiting: [],
        isInLine: false,
        waitingBytes: 0,
        coming: undefined,
        methods: methodsOf(caller),
        subscriber: subscriptions.connect(ownerOf({ caller, remoteAddress: stream.remoteAddress }), link),
      }
      peers.add(peer)
      stream.prependListener('data', (chunk: Buffer) => measure(peer, chunk))
      socket.on('message', (message) => receive(peer, message as Buffer))
      socket.on('close', () => forget(peer))
      return peer
    },
    sweep(nowMs) {
      for (const peer of peers) {
        const bytes = peer.meter.unfinishedBytes()
        if (bytes === 0 || peer.socket.isPaused) {
          peer.coming = undefined
          continue
        }
        peer.coming ??= createStallDetector(bodyRule, nowMs)
        if (!peer.coming.isStalled(bytes, nowMs)) continue
        refusals.count('too_slow')
        peer.socket.close(CLOSE_POLICY, 'the message came too slowly')
        peer.socket.terminate()
      }
    },
    stop() {
      isStopping = true
      for (const peer of peers) end(peer, 0)
    },
  }
}

function originOf({ caller, remoteAddress }: Peer): RequestOrigin {
  return { transport: 'ws', remoteAddress, key: caller.name }
}

/** True for a peer with messages in progress or waiting. */
function isBusy(peer: Peer): boolean {
  return peer.running > 0 || peer.waiting.length > 0
}

/** True for a peer whose next message may start. */
function mayBegin(peer: Peer): boolean {
  return peer.running < MAX_RUNNING && peer.outputShare.hasRoom()
}

function cancelSignalOf(socket: WebSocket): CancelSignal {
  return {
    get aborted() {
      return socket.readyState !== socket.OPEN
    },
  }
}
