import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientId } from '../../rpc/core/dispatch.js'
import { sizeOf } from '../../rpc/core/envelope.js'
import { clientOfAddress } from '../access/addresses.js'
import type { ByteBudget } from '../admission/byteBudget.js'
import type { ReadBudget } from '../admission/readBudget.js'
import type { RefusalCounter } from '../admission/refusals.js'
import type { RequestQueue } from '../admission/requestQueue.js'
import { createStallDetector, type StallDetector } from '../admission/stallDetector.js'
import type { WriteQueue } from '../admission/writeQueue.js'
import { formatRawRefusal, type IdleTracker } from '../connections/connections.js'
import { createGrowingBytes, type GrowingBytes } from '../connections/growingBytes.js'
import { bodyHeaders, formatPlainAnswer, JOIN_BYTES } from '../connections/responseParts.js'
import { writeParts } from '../connections/writeParts.js'
import type { Reply } from '../exchange.js'
import { type PlainHead, parsePlainHead } from './plainHead.js'

/* Reads plain call requests from sockets and answers them without Node's HTTP parser: Node's path from a socket to a
 *  handler and back takes as long as a small call. At the first request that is not plain, a connection is handed to
 *  Node for good. */

/** Answers plain requests. */
export interface PlainHandler<Admitted> {
  /** Undefined when Node must handle the request. */
  admit(head: PlainHead, remoteAddress: string | undefined): Admitted | undefined
  /** The client of an admitted request. */
  clientOf(admitted: Admitted, socket: Socket): ClientId
  /** Answers an admitted request; `body` is its whole text. */
  answer(request: { head: PlainHead; admitted: Admitted; body: string; socket: Socket }, reply: Reply): void
}

/** Connections that are handled here and not by Node's HTTP parser. */
export interface PlainConnections {
  /** Closes connections without a request in progress. */
  closeIdle(): void
  /** Closes all connections. */
  closeAll(): void
}

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

/** Dependencies of plain connections. */
export interface PlainOptions<Admitted> {
  readonly handler: PlainHandler<Admitted>
  readonly writeQueue: WriteQueue
  readonly timeouts: PlainTimeouts
  /** Budget that incomplete requests count against. */
  readonly bodies: ByteBudget
  readonly reads: ReadBudget
  readonly refusals: RefusalCounter
  readonly requestQueue: RequestQueue
  /** Undefined when a new connection is refused. */
  admit(socket: Socket): IdleTracker | undefined
  /** Calls `check` regularly with the time of `performance.now()`. */
  onSweep(check: (nowMs: number) => void): void
}

/** Longer heads and bodies are left to Node. */
const MAX_HEAD_BYTES = 8192
const MAX_BODY_BYTES = 65_536

const END_OF_HEAD = '\r\n\r\n'

const CHUNKED_HEADERS = ['Content-Type', 'application/json', 'Transfer-Encoding', 'chunked']

interface ConnectionContext<Admitted> extends PlainOptions<Admitted> {
  /** Hands the socket to Node. */
  leave(socket: Socket): void
  /** Called when the connection is no longer handled here. */
  forget(connection: PlainConnection): void
  /** True once the server accepts no new connections. */
  isClosing(): boolean
}

interface PlainConnection {
  /** True when no request, complete or not, is in progress. */
  isIdle(): boolean
  /** Closes the connection after its timeout. */
  sweep(nowMs: number): void
  destroy(): void
}

/** Handles plain requests on all connections of a server. */
export function takePlainRequests<Admitted>(server: Server, options: PlainOptions<Admitted>): PlainConnections {
  const connections = new Set<PlainConnection>()
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  const context: ConnectionContext<Admitted> = {
    ...options,
    leave: (socket) => {
      for (const listener of listeners) listener.call(server, socket)
    },
    forget: (connection) => void connections.delete(connection),
    isClosing: () => !server.listening,
  }
  server.on('connection', (socket) => {
    const idleTracker = options.admit(socket)
    if (idleTracker !== undefined) connections.add(openPlainConnection({ socket, idleTracker }, context))
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

/** Reads requests from a socket one after another: the next one after the response to the previous one is written. */
function openPlainConnection<Admitted>(
  { socket, idleTracker }: { socket: Socket; idleTracker: IdleTracker },
  context: ConnectionContext<Admitted>,
): PlainConnection {
  const { handler, writeQueue, timeouts, requestQueue } = context
  const unread = createUnread(context.bodies)
  const readShare = context.reads.open(socket)
  /** Bytes needed before a request can be complete. */
  let needed = 1
  let isBusy = false
  /** True after the first plain request. */
  let isAnswering = false
  let hasEnded = false
  let silentSince = performance.now()
  /** Progress of an incomplete request. */
  let requestProgress: StallDetector | undefined
  /** Called once the previous response was written. */
  let onAnswerTaken: (() => void) | undefined
  // Clients repeat the same head, so the last one is cached.
  let headText = ''
  let head: PlainHead | undefined

  const take = () => {
    const bytes = unread.bytes()
    const end = bytes.indexOf(END_OF_HEAD)
    // With pipelined requests, a head may be split.
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
    requestProgress = undefined
    isBusy = true
    idleTracker.begin()
    isAnswering = true
    const { keepsAlive } = head
    const request = { head, admitted, body: '', socket }
    const begin = () => {
      if (socket.destroyed) return
      request.body = bytes.toString('utf8', bodyStart, bodyEnd)
      unread.consumeTo(bodyEnd)
      handler.answer(request, createReply(keepsAlive))
    }
    if (!requestQueue.run(handler.clientOf(admitted, socket), begin) && !unread.hold()) socket.destroy()
  }
  const goOn = () => {
    isBusy = false
    idleTracker.end()
    endAnswer()
    silentSince = performance.now()
    if (socket.destroyed) return
    if (unread.size() >= needed) take()
    else waitForMore()
  }
  /** Waits for the rest of a request. */
  const waitUntil = (size: number) => {
    needed = size
    requestProgress ??= createStallDetector(timeouts, performance.now())
    readShare.count(unread.size())
    idleTracker.receive()
    waitForMore()
  }
  const waitForMore = () => {
    if (!unread.hold()) return refuse(503)
    if (hasEnded) socket.destroySoon()
    else if (socket.isPaused() && !readShare.isWaiting()) socket.resume()
  }
  const endAnswer = () => {
    onAnswerTaken?.()
    onAnswerTaken = undefined
  }
  /** Closes the connection in the middle of a request. */
  const refuse = (status: 408 | 503) => {
    context.refusals.count(status === 408 ? 'too_slow' : 'memory')
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
    const closing = () => !keepsAlive || (hasEnded && unread.size() === 0) || context.isClosing()
    const connectionHeaders = (closes: boolean) => {
      const headers = ['Date', dateHeader(), 'Connection', closes ? 'close' : 'keep-alive']
      return closes ? headers : [...headers, 'Keep-Alive', `timeout=${timeouts.idleMs / 1000}`]
    }
    return {
      isGone: () => socket.destroyed,
      hasLeft: () => hasEnded || socket.destroyed,
      isSent: () => isSent,
      send(status, headers, body, onTaken) {
        isSent = true
        onAnswerTaken = onTaken
        const closes = closing()
        headers.push(...bodyHeaders(status, body), ...connectionHeaders(closes))
        const chunks = formatPlainAnswer(status, headers, body)
        if (sizeOf(body) <= JOIN_BYTES) writeQueue(() => write(chunks, closes))
        else write(chunks, closes)
      },
      async sendParts(status, headers, parts) {
        isSent = true
        const closes = closing()
        const all = [...headers, ...CHUNKED_HEADERS, ...connectionHeaders(closes)]
        const [head] = formatPlainAnswer(status, all, [])
        try {
          socket.write(head, 'latin1')
          await writeParts(socket, parts, (part) => {
            socket.write(`${part.length.toString(16)}\r\n`, 'latin1')
            socket.write(part)
            return socket.write('\r\n', 'latin1')
          })
          write(['0\r\n\r\n'], closes)
        } catch {
          socket.destroy()
        }
      },
      destroy: () => void socket.destroy(),
    }
  }

  const onData = (chunk: Buffer) => {
    if (socket.writableEnded) return // refused, or the last response closed it
    if (unread.size() === 0) silentSince = performance.now()
    unread.append(chunk)
    if (isBusy) {
      if (unread.hold()) socket.pause()
      else socket.destroy()
    } else if (unread.size() >= needed) take()
    else if (!unread.hold()) refuse(503)
    else {
      readShare.count(chunk.length)
      idleTracker.receive()
    }
  }
  const onEnd = () => {
    hasEnded = true
    if (!isBusy) socket.destroySoon()
  }
  const onError = () => {} // 'close' follows
  const onClose = () => {
    context.forget(connection)
    readShare.close()
    unread.consumeTo(unread.size())
    endAnswer()
  }
  const leave = (bytes: Buffer) => {
    // A socket whose end was read cannot be handed over: the client pipelined requests of several kinds and then closed
    // its side.
    if (hasEnded) return void socket.destroySoon()
    isBusy = true
    readShare.close()
    socket.pause()
    const handOver = () => {
      if (socket.destroyed) return
      context.forget(connection)
      idleTracker.kind = 'http'
      socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      unread.consumeTo(unread.size())
      socket.unshift(bytes)
      context.leave(socket)
      socket.resume()
    }
    // A handover takes 0.1 ms: 1,000 in one turn would block the event loop for 0.1 s.
    if (!requestQueue.run(clientOfAddress(socket.remoteAddress), handOver) && !unread.hold()) socket.destroy()
  }
  const connection: PlainConnection = {
    isIdle: () => !isBusy && unread.size() === 0 && socket.writableLength === 0,
    sweep(nowMs) {
      if (isBusy || socket.writableEnded) return
      const size = unread.size()
      if (size === 0 && nowMs - silentSince > timeouts.idleMs) socket.destroy()
      if (size > 0 && (nowMs - silentSince > timeouts.requestMs || requestProgress?.isStalled(size, nowMs))) refuse(408)
    },
    destroy: () => void socket.destroy(),
  }
  idleTracker.kind = 'plain'
  socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  return connection
}

/** Received bytes that are not consumed yet. */
interface Unread {
  append(chunk: Buffer): void
  size(): number
  bytes(): Buffer
  /** Discards all bytes before `index`. */
  consumeTo(index: number): void
  /** Charges the kept bytes to the budget; false when it is exhausted. */
  hold(): boolean
}

function createUnread(bodies: ByteBudget): Unread {
  const byteShare = bodies.open()
  /** The only chunk; most requests arrive in one. */
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
    consumeTo(index) {
      chunk = index < size() ? (growing?.bytes() ?? chunk!).subarray(index) : undefined
      growing = undefined
      if (isHolding) byteShare.release()
      isHolding = false
    },
    hold() {
      if (!isHolding && size() === 0) return true
      isHolding = true
      // A slice would keep the whole large chunk in memory.
      if (chunk !== undefined && growing === undefined && chunk.buffer.byteLength > 2 * chunk.length) {
        const rest = Buffer.allocUnsafeSlow(chunk.length)
        chunk.copy(rest)
        chunk = rest
      }
      return byteShare.resize(growing?.capacityBytes() ?? size())
    },
  }
}

let date = { text: '', untilMs: 0 }

/** The `Date` header (RFC 9110, section 6.6.1); changes every second. */
function dateHeader(): string {
  const now = Date.now()
  if (now >= date.untilMs) date = { text: new Date(now).toUTCString(), untilMs: now - (now % 1000) + 1000 }
  return date.text
}
