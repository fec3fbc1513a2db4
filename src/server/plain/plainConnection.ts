import type { Socket } from 'node:net'
import { clientOfAddress } from '../access/addresses.js'
import type { ByteBudget } from '../admission/byteBudget.js'
import type { ReadBudget, ReadShare } from '../admission/readBudget.js'
import type { RefusalCounter } from '../admission/refusals.js'
import type { RequestQueue } from '../admission/requestQueue.js'
import { createStallDetector, type StallDetector } from '../admission/stallDetector.js'
import type { WriteQueue } from '../admission/writeQueue.js'
import { formatRawRefusal, type IdleTracker } from '../connections/connections.js'
import { type PlainHead, parsePlainHead } from './plainHead.js'
import type { AnsweredConnection } from './plainReply.js'
import { type PlainHandler, PlainRequest } from './plainRequest.js'
import { UnreadBytes } from './unreadBytes.js'

/** Timeouts of connections, in milliseconds. */
export interface PlainTimeouts {
  /** Between two requests. */
  readonly idleMs: number
  /** From the start of a request to its last byte. */
  readonly requestMs: number
  /** An incomplete request must grow by `leastBytes` in every such interval. */
  readonly stallMs: number
  readonly leastBytes: number
}

/** What all plain connections of a server share. */
export interface PlainContext<Admitted> {
  readonly handler: PlainHandler<Admitted>
  readonly writeQueue: WriteQueue
  readonly timeouts: PlainTimeouts
  /** Budget that incomplete requests count against. */
  readonly bodies: ByteBudget
  readonly reads: ReadBudget
  readonly refusals: RefusalCounter
  readonly requestQueue: RequestQueue
  /** Hands the socket to Node. */
  leave(socket: Socket): void
  /** Called when the connection is no longer handled here. */
  onClose(connection: PlainConnection<Admitted>): void
  /** True once the server accepts no new connections. */
  isClosing(): boolean
}

/** Longer heads and bodies are left to Node. */
const MAX_HEAD_BYTES = 8192
const MAX_BODY_BYTES = 65_536

const END_OF_HEAD = '\r\n\r\n'

/** Reads requests from a socket one after another: the next one after the response to the previous one is written. */
export class PlainConnection<Admitted> implements AnsweredConnection {
  readonly socket: Socket
  readonly handler: PlainHandler<Admitted>
  readonly writeQueue: WriteQueue
  readonly unread: UnreadBytes
  readonly idleMs: number
  readonly #idleTracker: IdleTracker
  readonly #context: PlainContext<Admitted>
  readonly #readShare: ReadShare
  /** Bytes needed before a request can be complete. */
  #needed = 1
  #isBusy = false
  /** True after the first plain request. */
  #isAnswering = false
  #hasEnded = false
  #silentSince = performance.now()
  /** Progress of an incomplete request. */
  #requestProgress: StallDetector | undefined
  /** The request in progress. */
  #request: PlainRequest<Admitted> | undefined
  // Clients repeat the same head, so the last one is cached.
  #headText = ''
  #head: PlainHead | undefined

  constructor({ socket, idleTracker }: { socket: Socket; idleTracker: IdleTracker }, context: PlainContext<Admitted>) {
    this.socket = socket
    this.handler = context.handler
    this.writeQueue = context.writeQueue
    this.unread = new UnreadBytes(context.bodies)
    this.idleMs = context.timeouts.idleMs
    this.#idleTracker = idleTracker
    this.#context = context
    this.#readShare = context.reads.open(socket)
    idleTracker.kind = 'plain'
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose)
  }

  hasEnded(): boolean {
    return this.#hasEnded
  }

  isLast(): boolean {
    return (this.#hasEnded && this.unread.size() === 0) || this.#context.isClosing()
  }

  nextRequest(): void {
    this.#isBusy = false
    this.#idleTracker.end()
    this.#endRequest()
    this.#silentSince = performance.now()
    if (this.socket.destroyed) return
    if (this.unread.size() >= this.#needed) this.#takeRequest()
    else this.#waitForMore()
  }

  /** True when no request, complete or not, is in progress. */
  isIdle(): boolean {
    return !this.#isBusy && this.unread.size() === 0 && this.socket.writableLength === 0
  }

  /** Closes the connection after its timeout. */
  sweep(nowMs: number): void {
    if (this.#isBusy || this.socket.writableEnded) return
    const { idleMs, requestMs } = this.#context.timeouts
    const size = this.unread.size()
    const silentMs = nowMs - this.#silentSince
    if (size === 0 && silentMs > idleMs) this.socket.destroy()
    if (size > 0 && (silentMs > requestMs || this.#requestProgress?.isStalled(size, nowMs))) this.#refuse(408)
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Starts the request whose head is first in the unread bytes, if it is complete and plain. */
  #takeRequest() {
    const bytes = this.unread.bytes()
    const end = bytes.indexOf(END_OF_HEAD)
    // With pipelined requests, a head may be split.
    if (end < 0 && this.#isAnswering && bytes.length <= MAX_HEAD_BYTES) return this.#waitUntil(bytes.length + 1)
    if (end < 0 || end > MAX_HEAD_BYTES) return this.#leave(bytes)
    const head = this.#parseHead(bytes.toString('latin1', 0, end))
    const isShort = head !== undefined && head.bodyBytes <= MAX_BODY_BYTES
    const admitted = isShort ? this.handler.admit(head, this.socket.remoteAddress) : undefined
    if (head === undefined || admitted === undefined) return this.#leave(bytes)
    const bodyStart = end + END_OF_HEAD.length
    if (bytes.length < bodyStart + head.bodyBytes) return this.#waitUntil(bodyStart + head.bodyBytes)
    this.#needed = 1
    this.#requestProgress = undefined
    this.#isBusy = true
    this.#isAnswering = true
    this.#idleTracker.begin()
    const request = new PlainRequest(this, { head, admitted, bodyStart })
    this.#request = request
    const client = this.handler.clientOf(admitted, this.socket)
    if (!this.#context.requestQueue.run(client, request) && !this.unread.charge()) this.socket.destroy()
  }

  #parseHead(text: string): PlainHead | undefined {
    if (text !== this.#headText) {
      this.#head = parsePlainHead(text)
      this.#headText = text
    }
    return this.#head
  }

  /** Waits for the rest of a request. */
  #waitUntil(size: number): void {
    this.#needed = size
    this.#requestProgress ??= createStallDetector(this.#context.timeouts, performance.now())
    this.#readShare.count(this.unread.size())
    this.#idleTracker.receive()
    this.#waitForMore()
  }

  #waitForMore() {
    const { socket } = this
    if (!this.unread.charge()) return this.#refuse(503)
    if (this.#hasEnded) socket.destroySoon()
    else if (socket.isPaused() && !this.#readShare.isWaiting()) socket.resume()
  }

  #endRequest(): void {
    this.#request?.reply.end()
    this.#request = undefined
  }

  /** Closes the connection in the middle of a request. */
  #refuse(status: 408 | 503): void {
    this.#context.refusals.count(status === 408 ? 'too_slow' : 'memory')
    if (!this.#isBusy) this.socket.write(formatRawRefusal(status))
    this.socket.destroySoon()
  }

  readonly #onData = (chunk: Buffer): void => {
    const { socket, unread } = this
    if (socket.writableEnded) return // refused, or the last response closed it
    if (unread.size() === 0) this.#silentSince = performance.now()
    unread.append(chunk)
    if (this.#isBusy) {
      if (unread.charge()) socket.pause()
      else socket.destroy()
    } else if (unread.size() >= this.#needed) this.#takeRequest()
    else if (!unread.charge()) this.#refuse(503)
    else {
      this.#readShare.count(chunk.length)
      this.#idleTracker.receive()
    }
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (!this.#isBusy) this.socket.destroySoon()
  }

  readonly #onError = (): void => {} // 'close' follows

  readonly #onClose = (): void => {
    this.#context.onClose(this)
    this.#readShare.close()
    this.unread.consumeTo(this.unread.size())
    this.#endRequest()
  }

  /** Hands the socket to Node, with the bytes that it has not parsed. */
  #leave(bytes: Buffer): void {
    const { socket } = this
    // A socket whose end was read cannot be handed over: the client pipelined requests of several kinds and then closed
    // its side.
    if (this.#hasEnded) return void socket.destroySoon()
    this.#isBusy = true
    this.#readShare.close()
    socket.pause()
    const begin = () => {
      if (socket.destroyed) return
      this.#context.onClose(this)
      this.#idleTracker.kind = 'http'
      socket.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose)
      this.unread.consumeTo(this.unread.size())
      socket.unshift(bytes)
      this.#context.leave(socket)
      socket.resume()
    }
    // A handover takes 0.1 ms: 1,000 in one turn would block the event loop for 0.1 s.
    const client = clientOfAddress(socket.remoteAddress)
    if (!this.#context.requestQueue.run(client, { begin }) && !this.unread.charge()) socket.destroy()
  }
}
