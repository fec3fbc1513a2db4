import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientId } from '../../rpc/core/dispatch.js'
import { sizeOf } from '../../rpc/core/envelope.js'
import { clientOfAddress } from '../access/addresses.js'
import { type Activity, formatRawRefusal } from '../connections/connections.js'
import { createGrowingBytes, type GrowingBytes } from '../connections/growingBytes.js'
import type { Outbox } from '../connections/outbox.js'
import { bodyHeaders, formatPlainAnswer, JOIN_BYTES } from '../connections/responseParts.js'
import type { Reply } from '../exchange.js'
import type { ByteBudget } from '../limits/byteBudget.js'
import type { FairTurns } from '../limits/fairTurns.js'
import { createProgress, type Progress } from '../limits/progress.js'
import type { ReadBudget } from '../limits/readBudget.js'
import type { RefusalCounter } from '../limits/refusals.js'
import { type PlainHead, parsePlainHead } from './plainHead.js'

/* Plain requests for calls are taken from the sockets and answered here: Node's own way from a socket to a handler and back
 * takes as long as a small call does. A connection is left to Node, for good, with the first request that is not plain. */

/** What answers plain requests. */
export interface PlainHandler<Admitted> {
  /** Undefined for a request that Node is to take. */
  admit(head: PlainHead, remoteAddress: string | undefined): Admitted | undefined
  /** Whose request was admitted. */
  clientOf(admitted: Admitted, socket: Socket): ClientId
  /** Answers a request that was admitted; `body` is its whole text. */
  answer(request: { head: PlainHead; admitted: Admitted; body: string; socket: Socket }, reply: Reply): void
}

/** The connections of a server that Node was not left. */
export interface PlainConnections {
  /** Ends those without a request under way. */
  closeIdle(): void
  /** Ends all. */
  closeAll(): void
}

/** How long connections may take, in milliseconds. */
export interface PlainTimeouts {
  /** From one request to the next. */
  readonly idleMs: number
  /** From the begin of a request to its last byte. */
  readonly requestMs: number
  /** A request that is not whole grows by `leastBytes` in every such time. */
  readonly stallMs: number
  readonly leastBytes: number
}

/** What connections need beside their sockets. */
export interface PlainOptions<Admitted> {
  readonly handler: PlainHandler<Admitted>
  readonly outbox: Outbox
  readonly timeouts: PlainTimeouts
  /** Where requests that are not whole are counted. */
  readonly bodies: ByteBudget
  readonly reads: ReadBudget
  readonly refusals: RefusalCounter
  readonly fairTurns: FairTurns
  /** Undefined for a new connection that was refused. */
  admit(socket: Socket): Activity | undefined
  /** Checks regularly; `check` gets the time of `performance.now()`. */
  onSweep(check: (nowMs: number) => void): void
}

/** Longer heads and bodies are for Node. */
const MAX_HEAD_BYTES = 8192
const MAX_BODY_BYTES = 65_536

const END_OF_HEAD = '\r\n\r\n'

interface Surroundings<Admitted> extends PlainOptions<Admitted> {
  /** Gives the socket to Node. */
  leave(socket: Socket): void
  /** Is told that the connection is no longer one of these. */
  forget(connection: PlainConnection): void
  /** True once the server takes no new connections. */
  isClosing(): boolean
}

interface PlainConnection {
  /** Whether no request, nor a part of one, is under way. */
  isIdle(): boolean
  /** Ends it when it was silent for too long. */
  sweep(nowMs: number): void
  destroy(): void
}

/** Takes the plain requests on all connections of a server. */
export function takePlainRequests<Admitted>(server: Server, options: PlainOptions<Admitted>): PlainConnections {
  const connections = new Set<PlainConnection>()
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  const surroundings: Surroundings<Admitted> = {
    ...options,
    leave: (socket) => {
      for (const listener of listeners) listener.call(server, socket)
    },
    forget: (connection) => void connections.delete(connection),
    isClosing: () => !server.listening,
  }
  server.on('connection', (socket) => {
    const activity = options.admit(socket)
    if (activity !== undefined) connections.add(openPlainConnection({ socket, activity }, surroundings))
  })
  options.onSweep((nowMs) => {
    for (const connection of connections) connection.sweep(nowMs)
  })
  return {
    closeIdle() {
      for (const connection of connections) if (connection.isIdle()) connection.destroy()
    },
    closeAll() {
      for (const connection of connections) connection.destroy()
    },
  }
}

/** Takes requests from a socket one after another: the next one when the answer to the one before is written. */
function openPlainConnection<Admitted>(
  { socket, activity }: { socket: Socket; activity: Activity },
  surroundings: Surroundings<Admitted>,
): PlainConnection {
  const { handler, outbox, timeouts, fairTurns } = surroundings
  const unread = createUnread(surroundings.bodies)
  const turns = surroundings.reads.open(socket)
  /** Bytes without which no request is whole. */
  let needed = 1
  let isBusy = false
  /** True once a plain request has come. */
  let isAnswering = false
  let hasEnded = false
  let silentSince = performance.now()
  /** Of a request that is not whole. */
  let coming: Progress | undefined
  /** Called once the answer before is taken. */
  let onAnswerTaken: (() => void) | undefined
  // Clients send the same head again and again.
  let headText = ''
  let head: PlainHead | undefined

  const take = () => {
    const bytes = unread.bytes()
    const end = bytes.indexOf(END_OF_HEAD)
    // Of requests that are sent one right after another, a head may be cut in two.
    if (end < 0 && isAnswering && bytes.length <= MAX_HEAD_BYTES) {
      return waitUntil(bytes.length + 1)
    }
    if (end < 0 || end > MAX_HEAD_BYTES) return leave(bytes)
    const text = bytes.toString('latin1', 0, end)
    if (text !== headText) {
      head = parsePlainHead(text)
      headText = text
    }
    const isShort = head !== undefined && head.bodyBytes <= MAX_BODY_BYTES
    const admitted = isShort ? handler.admit(head!, socket.remoteAddress) : undefined
    if (head === undefined || admitted === undefined) return leave(bytes)
    const bodyStart = end + END_OF_HEAD.length
    const bodyEnd = bodyStart + head.bodyBytes
    if (bytes.length < bodyEnd) {
      return waitUntil(bodyEnd)
    }
    needed = 1
    coming = undefined
    isBusy = true
    activity.begin()
    isAnswering = true
    const { keepsAlive } = head
    const request = { head, admitted, body: '', socket }
    const begin = () => {
      if (socket.destroyed) return
      request.body = bytes.toString('utf8', bodyStart, bodyEnd)
      unread.passTo(bodyEnd)
      handler.answer(request, createReply(keepsAlive))
    }
    if (!fairTurns.run(handler.clientOf(admitted, socket), begin) && !unread.hold()) socket.destroy()
  }
  const goOn = () => {
    isBusy = false
    activity.end()
    endAnswer()
    silentSince = performance.now()
    if (socket.destroyed) return
    if (unread.size() >= needed) take()
    else waitForMore()
  }
  /** Waits for the rest of a request. */
  const waitUntil = (size: number) => {
    needed = size
    coming ??= createProgress(timeouts, performance.now())
    turns.count(unread.size())
    activity.receive()
    waitForMore()
  }
  const waitForMore = () => {
    if (!unread.hold()) return refuse(503)
    if (hasEnded) socket.destroySoon()
    else if (socket.isPaused() && !turns.isWaiting()) socket.resume()
  }
  const endAnswer = () => {
    onAnswerTaken?.()
    onAnswerTaken = undefined
  }
  /** Ends the connection in the middle of a request. */
  const refuse = (status: 408 | 503) => {
    surroundings.refusals.count(status === 408 ? 'too_slow' : 'memory')
    if (!isBusy) socket.write(formatRawRefusal(status))
    socket.destroySoon()
  }
  const createReply = (keepsAlive: boolean): Reply => {
    let isSent = false
    const write = (chunks: readonly (string | Uint8Array)[], closes: boolean) => {
      if (socket.destroyed) return endAnswer()
      if (chunks.length > 1) socket.cork()
      for (const chunk of chunks) socket.write(chunk, 'latin1')
      if (chunks.length > 1) socket.uncork()
      if (closes) socket.destroySoon()
      else if (socket.writableNeedDrain) socket.once('drain', goOn)
      else goOn()
    }
    return {
      isGone: () => socket.destroyed,
      hasLeft: () => hasEnded || socket.destroyed,
      isSent: () => isSent,
      send(status, headers, body, onTaken) {
        isSent = true
        onAnswerTaken = onTaken
        const closes = !keepsAlive || (hasEnded && unread.size() === 0) || surroundings.isClosing()
        headers.push(...bodyHeaders(status, body), 'Date', dateNow(), 'Connection', closes ? 'close' : 'keep-alive')
        if (!closes) headers.push('Keep-Alive', `timeout=${timeouts.idleMs / 1000}`)
        const chunks = formatPlainAnswer(status, headers, body)
        if (sizeOf(body) <= JOIN_BYTES) outbox(() => write(chunks, closes))
        else write(chunks, closes)
      },
      destroy: () => void socket.destroy(),
    }
  }

  const onData = (chunk: Buffer) => {
    if (socket.writableEnded) return // it was refused, or told that the last answer was its last
    if (unread.size() === 0) silentSince = performance.now()
    unread.append(chunk)
    if (isBusy) {
      if (unread.hold()) socket.pause()
      else socket.destroy()
    } else if (unread.size() >= needed) take()
    else if (!unread.hold()) refuse(503)
    else {
      turns.count(chunk.length)
      activity.receive()
    }
  }
  const onEnd = () => {
    hasEnded = true
    if (!isBusy) socket.destroySoon()
  }
  const onError = () => {} // it is closed then
  const onClose = () => {
    surroundings.forget(connection)
    turns.close()
    unread.passTo(unread.size())
    endAnswer()
  }
  const leave = (bytes: Buffer) => {
    // Nothing can be put back once the end was read: requests of all kinds sent at once, and the side closed after them.
    if (hasEnded) return void socket.destroySoon()
    isBusy = true
    turns.close()
    socket.pause()
    const handOver = () => {
      if (socket.destroyed) return
      surroundings.forget(connection)
      activity.kind = 'http'
      socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      unread.passTo(unread.size())
      socket.unshift(bytes)
      surroundings.leave(socket)
      socket.resume()
    }
    // To hand over a connection takes 0.1 ms: 1,000 at once held up everyone for that long.
    if (!fairTurns.run(clientOfAddress(socket.remoteAddress), handOver) && !unread.hold()) socket.destroy()
  }
  const connection: PlainConnection = {
    isIdle: () => !isBusy && unread.size() === 0 && socket.writableLength === 0,
    sweep(nowMs) {
      if (isBusy || socket.writableEnded) return
      const size = unread.size()
      if (size === 0 && nowMs - silentSince > timeouts.idleMs) socket.destroy()
      if (size > 0 && (nowMs - silentSince > timeouts.requestMs || coming?.isStalled(size, nowMs))) refuse(408)
    },
    destroy: () => void socket.destroy(),
  }
  activity.kind = 'plain'
  socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  return connection
}

/** Bytes that came and were not taken. */
interface Unread {
  append(chunk: Buffer): void
  size(): number
  bytes(): Buffer
  /** Forgets all before that byte. */
  passTo(index: number): void
  /** Counts what is kept for longer; false when there is no room for it. */
  hold(): boolean
}

function createUnread(bodies: ByteBudget): Unread {
  const holding = bodies.open()
  /** The only chunk, as most requests come in one. */
  let chunk: Buffer | undefined
  let growing: GrowingBytes | undefined
  let isHolding = false
  const size = () => growing?.sizeBytes() ?? chunk?.length ?? 0
  return {
    append(next) {
      if (chunk === undefined) chunk = next
      else {
        if (growing === undefined) {
          growing = createGrowingBytes(Infinity)
          growing.append(chunk)
        }
        growing.append(next)
      }
    },
    size,
    bytes: () => growing?.bytes() ?? chunk ?? Buffer.alloc(0),
    passTo(index) {
      chunk = index < size() ? (growing?.bytes() ?? chunk!).subarray(index) : undefined
      growing = undefined
      if (isHolding) holding.release()
      isHolding = false
    },
    hold() {
      if (!isHolding && size() === 0) return true
      isHolding = true
      // The rest of a large chunk would keep all of it in memory.
      if (chunk !== undefined && growing === undefined && chunk.buffer.byteLength > 2 * chunk.length) {
        const rest = Buffer.allocUnsafeSlow(chunk.length)
        chunk.copy(rest)
        chunk = rest
      }
      return holding.resize(growing?.capacityBytes() ?? size())
    },
  }
}

let date = { text: '', untilMs: 0 }

/** The date of an answer (RFC 9110, section 6.6.1), which changes every second. */
function dateNow(): string {
  const now = Date.now()
  if (now >= date.untilMs) date = { text: new Date(now).toUTCString(), untilMs: now - (now % 1000) + 1000 }
  return date.text
}
