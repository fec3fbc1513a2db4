import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { messageOf } from '../../lib/errors.js'
import type { Metrics } from '../../lib/metrics.js'
import { INVALID_REQUEST, type RpcErrorBody } from '../../rpc/core/errors.js'
import { isRefusal, maskKey, type Refusal, retryHeaders } from '../access/access.js'
import { isAllowedOrigin } from '../access/cors.js'
import { createHostCheck } from '../access/hosts.js'
import type { KeyWatch } from '../access/keyWatch.js'
import { openRecord } from '../accounting/requestRecord.js'
import type { RefusalReason } from '../admission/refusals.js'
import type { ServerOptions } from '../exchange.js'
import { credentialsOf, HOST_REFUSED, type HttpServer, MAX_BODY_BYTES } from '../http/httpServer.js'
import { normalizeTarget } from '../http/requestTarget.js'
import { isOwnOrigin } from '../page/page.js'
import { CLOSE_POLICY, methodsOf, Peer, type PeerContext } from './websocketPeer.js'

/** Frames of one message, and pieces in which a frame may arrive: 5 MB in 1,400-byte segments are 3,600. */
const MAX_PIECES = 16_384

/** A refused handshake's connection stays open for this long, so that the response reaches the client. */
const LINGER_MS = 1000

/** The WebSocket side of a server. */
export interface WebSocketSide {
  /** Accepts no more messages, and closes every socket when its running requests are answered. */
  close(): void
  /** Ends sockets that are still open. */
  terminate(): void
}

/** Answers upgrades of `/ws/v3/<API_KEY>` on the server. Each message is a body as in a POST; responses come in the
 *  order of their completion. */
export function attachWebSocket(
  { server, connections, reads, requestQueue }: HttpServer,
  options: ServerOptions & { keyWatch: KeyWatch },
): WebSocketSide {
  const { access, keyWatch, log } = options
  // permessage-deflate (RFC 7692) stays off: it keeps a window for every socket, and compresses every message in turn,
  // even the small ones, which are most. Clients that want large responses compressed use POST.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_BODY_BYTES,
    maxFragments: MAX_PIECES,
    maxBufferedChunks: MAX_PIECES,
    perMessageDeflate: false,
  })
  const peers = new Set<Peer>()
  const context: PeerContext = { options, peers, reads, requestQueue, isStopping: false, received: 0 }
  registerPeerMetrics(options.metrics, context)
  connections.onSweep((nowMs) => {
    for (const peer of peers) peer.sweep(nowMs)
  })
  const isServedHost = createHostCheck(options.hosts)
  let closing = false

  const reject = (stream: Duplex, reason: RefusalReason, ...answer: RejectAnswer) => {
    options.refusals.count(reason)
    rejectUpgrade(stream, ...answer)
    reads.discard(stream)
  }
  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', (error) => log.debug({ error: messageOf(error) }, 'a socket failed during its handshake'))
    normalizeTarget(request)
    // The other protocols of its offer are ignored.
    request.headers.upgrade = 'websocket'
    const { host, origin } = request.headers
    if (!isServedHost(host)) return reject(stream, 'bad_host', '403 Forbidden', envelope(HOST_REFUSED))
    // Pages may open sockets to any host and read the response: only the server can refuse (RFC 6455, section 10.2).
    const isOwnPage = options.page !== undefined && origin !== undefined && isOwnOrigin(origin, host)
    if (origin !== undefined && !isOwnPage && !isAllowedOrigin(options.cors, origin)) {
      return reject(stream, 'bad_origin', '403 Forbidden', envelope(ORIGIN_REFUSED))
    }
    const caller = access.identify(credentialsOf(request), '/ws/v3')
    if (closing) return reject(stream, 'stopping', '503 Service Unavailable', { error: 'stopping' })
    if (caller === undefined) {
      return reject(stream, 'bad_path', '404 Not Found', { error: 'not found; sockets open at /ws/v3/<API_KEY>' })
    }
    if (isRefusal(caller)) {
      const refusal = access.countRefusal(caller, request.socket.remoteAddress)
      recordHandshake(options, request, refusal)
      const status = `${refusal.status} ${STATUS_CODES[refusal.status]}`
      return reject(stream, refusal.reason, status, envelope(refusal.error), retryHeaders(refusal))
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      // The stream that the server passes on is the socket of the connection.
      const connection = stream as Socket
      const [outputShare, idleTracker] = [connections.outputShareOf(connection), connections.idleTrackerOf(connection)]
      new Peer({ socket, stream: connection, outputShare, idleTracker, caller }, context)
      socket.on('error', (error) => log.debug({ error: messageOf(error) }, 'a socket failed'))
    })
  }
  server.on('upgrade', upgrade)

  const closeRevoked = () => {
    for (const peer of peers) {
      const { caller, socket, subscriber } = peer
      if (!access.isLive(caller)) socket.close(CLOSE_POLICY, 'API key revoked')
      else if (subscriber.isActive() && methodsOf(caller) !== peer.methods) {
        socket.close(CLOSE_POLICY, 'the methods of the API key changed; subscribe again')
      }
    }
  }
  keyWatch.onChange(closeRevoked)
  const ping = setInterval(() => {
    for (const peer of peers) {
      // Its pong would not be read.
      if (peer.socket.isPaused) continue
      // The ping would wait behind unread bytes; `writeStallMs` handles such a peer.
      if (peer.stream.writableLength > 0) peer.isAlive = true
      else if (!peer.isAlive) peer.socket.terminate()
      else if (peer.socket.readyState === peer.socket.OPEN) {
        peer.isAlive = false
        peer.socket.ping()
      }
    }
  }, options.limits.pingMs)

  return {
    close() {
      closing = true
      clearInterval(ping)
      context.isStopping = true
      for (const peer of peers) peer.end(0)
    },
    terminate() {
      for (const { socket } of peers) socket.terminate()
    },
  }
}

function registerPeerMetrics(metrics: Metrics, context: PeerContext): void {
  metrics.gauge('cairn_websocket_peers', 'Open WebSockets.', () => context.peers.size)
  metrics.counter('cairn_websocket_messages_total', 'Messages received on WebSockets.', () => context.received)
  metrics.gauge(
    'cairn_websocket_messages_waiting',
    'Messages that wait for their turn, or for room for their answers.',
    () => {
      let waiting = 0
      for (const peer of context.peers) waiting += peer.waitingCount
      return waiting
    },
  )
}

/** Writes a refused handshake to the access log. */
function recordHandshake(options: ServerOptions, request: IncomingMessage, { status, error }: Refusal): void {
  if (options.accounting?.accessLog === undefined) return
  const credentials = credentialsOf(request)
  const { remoteAddress } = credentials
  const record = openRecord(options.accounting, {
    transport: 'ws',
    remoteAddress,
    key: maskKey(credentials, '/ws/v3'),
  })
  record.refuse(error)
  record.end(status, 0)
}

const ORIGIN_REFUSED: RpcErrorBody = {
  code: INVALID_REQUEST,
  message: 'pages of this origin may not open sockets; name it with --cors',
}

function envelope(error: RpcErrorBody): object {
  return { jsonrpc: '2.0', id: null, error }
}

type RejectAnswer = [status: string, body: object, headers?: readonly string[]]

/** Responds to a handshake with an error. `headers` alternates names and values. A client that does not end its side is
 *  disconnected a second later. */
function rejectUpgrade(stream: Duplex, ...[status, body, headers = []]: RejectAnswer): void {
  const text = JSON.stringify(body)
  let head = `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  stream.end(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  const timer = setTimeout(() => void stream.destroy(), LINGER_MS)
  stream.once('close', () => clearTimeout(timer))
}
