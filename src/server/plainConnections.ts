import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { sizeOf } from '../rpc/envelope.js'
import type { Reply } from './exchange.js'
import type { Outbox } from './outbox.js'
import { type PlainHead, parsePlainHead } from './plainHead.js'
import { bodyHeaders, formatPlainAnswer, JOIN_BYTES } from './responseParts.js'

/* Plain requests for calls are taken from the sockets and answered here: Node's own way from a socket to a handler and back
 * takes as long as a small call does. A connection is left to Node, for good, with the first request that is not plain. */

/** What answers plain requests. */
export interface PlainHandler<Admitted> {
  /** Undefined for a request that Node is to take. */
  admit(head: PlainHead, remoteAddress: string | undefined): Admitted | undefined
  /** Answers a request that was admitted; `body` is its whole text. */
  answer(
    request: {
      head: PlainHead
      admitted: Admitted
      body: string
      remoteAddress: string | undefined
      connection: object
    },
    reply: Reply,
  ): void
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
}

/** Longer heads and bodies are for Node. */
const MAX_HEAD_BYTES = 8192
const MAX_BODY_BYTES = 65_536

const SWEEP_MS = 1000
const END_OF_HEAD = '\r\n\r\n'
const TIMED_OUT = `HTTP/1.1 408 ${STATUS_CODES[408]}\r\nConnection: close\r\n\r\n`

interface Surroundings<Admitted> {
  readonly handler: PlainHandler<Admitted>
  readonly outbox: Outbox
  readonly timeouts: PlainTimeouts
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
export function takePlainRequests<Admitted>(
  server: Server,
  options: { handler: PlainHandler<Admitted>; outbox: Outbox; timeouts: PlainTimeouts },
): PlainConnections {
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
  server.on('connection', (socket) => void connections.add(openPlainConnection(socket, surroundings)))
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const connection of connections) connection.sweep(now)
  }, SWEEP_MS).unref()
  server.on('close', () => clearInterval(sweep))
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
function openPlainConnection<Admitted>(socket: Socket, surroundings: Surroundings<Admitted>): PlainConnection {
  const { handler, outbox, timeouts } = surroundings
  /** What came and was not taken. */
  let parts: Buffer[] = []
  let size = 0
  /** Bytes without which no request is whole. */
  let needed = 1
  let isBusy = false
  let hasEnded = false
  let silentSince = performance.now()
  // Clients send the same head again and again.
  let headText = ''
  let head: PlainHead | undefined

  const take = () => {
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts, size)
    const end = bytes.indexOf(END_OF_HEAD)
    if (end < 0 || end > MAX_HEAD_BYTES) return leave(bytes)
    const text = bytes.toString('latin1', 0, end)
    if (text !== headText) {
      head = parsePlainHead(text)
      headText = text
    }
    const admitted = head && head.bodyBytes <= MAX_BODY_BYTES ? handler.admit(head, socket.remoteAddress) : undefined
    if (head === undefined || admitted === undefined) return leave(bytes)
    const bodyStart = end + END_OF_HEAD.length
    const bodyEnd = bodyStart + head.bodyBytes
    if (bytes.length < bodyEnd) {
      parts = [bytes]
      needed = bodyEnd
      return waitForMore()
    }
    parts = bytes.length > bodyEnd ? [bytes.subarray(bodyEnd)] : []
    size = bytes.length - bodyEnd
    needed = 1
    isBusy = true
    const body = bytes.toString('utf8', bodyStart, bodyEnd)
    const { remoteAddress } = socket
    handler.answer({ head, admitted, body, remoteAddress, connection: socket }, createReply(head.keepsAlive))
  }
  const goOn = () => {
    isBusy = false
    silentSince = performance.now()
    if (socket.destroyed) return
    if (size >= needed) take()
    else waitForMore()
  }
  const waitForMore = () => {
    if (hasEnded) socket.destroySoon()
    else if (socket.isPaused()) socket.resume()
  }
  const createReply = (keepsAlive: boolean): Reply => {
    let isSent = false
    const write = (chunks: readonly (string | Uint8Array)[], closes: boolean) => {
      if (socket.destroyed) return
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
      send(status, headers, body) {
        isSent = true
        const closes = !keepsAlive || (hasEnded && size === 0) || surroundings.isClosing()
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
    if (size === 0) silentSince = performance.now()
    parts.push(chunk)
    size += chunk.length
    if (isBusy) socket.pause()
    else if (size >= needed) take()
  }
  const onEnd = () => {
    hasEnded = true
    if (!isBusy) socket.destroySoon()
  }
  const onError = () => {} // it is closed then
  const onClose = () => surroundings.forget(connection)
  const leave = (bytes: Buffer) => {
    // Nothing can be put back once the end was read: requests of all kinds sent at once, and the side closed after them.
    if (hasEnded) return void socket.destroySoon()
    surroundings.forget(connection)
    socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
    socket.pause()
    socket.unshift(bytes)
    surroundings.leave(socket)
    socket.resume()
  }
  const connection: PlainConnection = {
    isIdle: () => !isBusy && size === 0 && socket.writableLength === 0,
    sweep(nowMs) {
      if (isBusy) return
      if (size === 0 && nowMs - silentSince > timeouts.idleMs) socket.destroy()
      if (size > 0 && nowMs - silentSince > timeouts.requestMs) {
        socket.write(TIMED_OUT)
        socket.destroySoon()
      }
    },
    destroy: () => void socket.destroy(),
  }
  socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  return connection
}

let date = { text: '', untilMs: 0 }

/** The date of an answer (RFC 9110, section 6.6.1), which changes every second. */
function dateNow(): string {
  const now = Date.now()
  if (now >= date.untilMs) date = { text: new Date(now).toUTCString(), untilMs: now - (now % 1000) + 1000 }
  return date.text
}
