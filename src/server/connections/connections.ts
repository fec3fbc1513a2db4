import type { Server, Socket } from 'node:net'
import type { Metrics } from '../../lib/metrics.js'
import { INVALID_REQUEST, type RpcErrorBody } from '../../rpc/core/errors.js'
import { encodeResponse } from '../../rpc/core/responseBytes.js'
import { retryHeaders } from '../access/access.js'
import { BUSY } from '../admission/admission.js'
import { createIdleQueue, createQueueEntry, type IdleQueue, type QueueEntry, unlink } from '../admission/idleQueue.js'
import type { ServerLimits } from '../admission/limits.js'
import type { OutputBudget, OutputShare } from '../admission/outputBudget.js'
import type { ReadBudget } from '../admission/readBudget.js'
import { createStallDetector, type StallDetector } from '../admission/stallDetector.js'
import { bodyHeaders, formatPlainAnswer } from './responseParts.js'

/** All connections of a server: plain, HTTP and WebSocket. */
export interface Connections {
  /** Registers a new connection. At the limit, the connection that has been idle longest is closed: first those without
   *  a complete request so far, then keep-alive connections, then WebSockets. If no connection is idle, the newest
   *  WebSocket with subscriptions is closed, so that the others keep theirs and new clients are answered. Returns
   *  undefined when all have requests; the new connection is refused. */
  admit(socket: Socket): IdleTracker | undefined
  /** The socket must be open. */
  idleTrackerOf(socket: Socket): IdleTracker
  /** The socket must be open. */
  outputShareOf(socket: Socket): OutputShare
  /** The connection is counted by another thread from now on, which closes it when it is idle. */
  pass(socket: Socket): void
  /** Calls `check` regularly with the time of `performance.now()` until the server closes. */
  onSweep(check: (nowMs: number) => void): void
}

/** Protocol handler of a connection: the reader of plain requests, Node's HTTP parser, or `ws`. */
export type ConnectionKind = 'plain' | 'http' | 'websocket'

/** Tracks whether a connection is idle and may be closed for a new one. */
export interface IdleTracker {
  kind: ConnectionKind
  /** A complete request has arrived: the connection must not be closed for a new one. */
  begin(): void
  /** All received requests are answered. A connection that `listens` has subscriptions. */
  end(listens?: boolean): void
  /** Part of a request has arrived: the connection may be closed, the earlier the longer it stays silent. */
  receive(): void
  /** The connection has become a WebSocket. */
  upgrade(): void
}

const NOT_TRACKED: IdleTracker = { kind: 'http', begin() {}, end() {}, receive() {}, upgrade() {} }

const SWEEP_MS = 1000

/** While others wait for memory, a client with a large unread response is disconnected when it reads slower than 16
 *  kB/s. */
const CONTENDED_RULE = { stallMs: 5000, leastBytes: 80_000 }
const MUCH_BYTES = 1_000_000

/** Refused connections that get a response; above this number connections are closed without one. */
const MAX_REFUSED = 100
/** How long a refused connection stays open, so that the response reaches the client. */
const LINGER_MS = 500

interface Connection {
  readonly outputShare: OutputShare
  readonly idleTracker: IdleTracker
  readonly entry: QueueEntry<Socket>
  /** Progress of a client with a response to read. */
  readProgress: StallDetector | undefined
  contendedProgress: StallDetector | undefined
  /** True once another thread counts it. */
  isPassed: boolean
}

/** Accept queue of a listener; each event-loop turn accepts one connection. Clients beyond the limit retry after 1 s.
 *  The system may allow fewer (`net.core.somaxconn`); Node's default is 511. */
export const BACKLOG = 2048

/** Options of `watchConnections`. */
export interface WatchOptions {
  readonly limits: ServerLimits
  readonly output: OutputBudget
  readonly reads: ReadBudget
  readonly metrics: Metrics
  /** Counts the connections of all threads. Default: this server has all. */
  readonly slots?: ConnectionSlots
}

/** Counts connections. */
export interface ConnectionSlots {
  /** Connections that are counted now. */
  count(): number
  add(difference: 1 | -1): void
}

/** Memory for `shareConnectionSlots`, for a number of threads. */
export function connectionSlotMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT)
}

/** Counts connections of several threads in `memory`, those that are added here for one of them. */
export function shareConnectionSlots(memory: SharedArrayBuffer, thread: number): ConnectionSlots {
  const counts = new Int32Array(memory)
  return {
    count: () => counts.reduce((sum, _, i) => sum + Atomics.load(counts, i), 0),
    add: (difference) => void Atomics.add(counts, thread, difference),
  }
}

/** The connections of a thread that has ended are not counted any more. */
export function clearConnectionSlots(memory: SharedArrayBuffer, thread: number): void {
  Atomics.store(new Int32Array(memory), thread, 0)
}

/** Enforces the connection limit and disconnects clients that do not read their responses. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the listeners of one server share the table of its sockets
export function watchConnections(server: Server, options: WatchOptions): Connections {
  const { limits, output, reads, metrics, slots = countHere() } = options
  const open = new Map<Socket, Connection>()
  const queues = createQueues()
  const checks = [(nowMs: number) => output.sweep(nowMs)]
  const rule = { stallMs: limits.writeStallMs, leastBytes: 1 }
  const closed = { receivedBytes: 0, sentBytes: 0 }
  const counts = { accepted: 0, refused: 0, evicted: 0, stalled: 0 }
  let lingering = 0
  registerConnectionMetrics(metrics, { limits, open, closed, counts })

  const isStalled = (socket: Socket, connection: Connection, nowMs: number) => {
    if (socket.writableLength === 0) {
      connection.readProgress = undefined
      connection.contendedProgress = undefined
      return false
    }
    const taken = takenBytes(socket)
    connection.readProgress ??= createStallDetector(rule, nowMs)
    if (connection.readProgress.isStalled(taken, nowMs)) return true
    if (!output.isContended() || connection.outputShare.usedBytes() < MUCH_BYTES) {
      connection.contendedProgress = undefined
      return false
    }
    connection.contendedProgress ??= createStallDetector(CONTENDED_RULE, nowMs)
    return connection.contendedProgress.isStalled(taken, nowMs)
  }
  const timer = setInterval(
    () => {
      const nowMs = performance.now()
      for (const [socket, connection] of open) {
        if (!isStalled(socket, connection, nowMs)) continue
        counts.stalled++
        socket.resetAndDestroy()
      }
      for (const check of checks) check(nowMs)
    },
    Math.min(SWEEP_MS, limits.writeStallMs / 4, limits.bodyStallMs / 4),
  ).unref()
  server.on('close', () => clearInterval(timer))

  const refuse = (socket: Socket) => {
    counts.refused++
    if (lingering >= MAX_REFUSED) return void socket.destroy()
    lingering++
    const linger = setTimeout(() => void socket.destroy(), LINGER_MS)
    socket.on('error', () => {}) // it is closed then
    socket.on('close', () => {
      lingering--
      clearTimeout(linger)
    })
    socket.end(formatRawRefusal(503))
    reads.discard(socket)
  }
  const untrack = (socket: Socket) => {
    const connection = open.get(socket)
    if (connection === undefined) return
    unlink(connection.entry)
    open.delete(socket)
    if (!connection.isPassed) slots.add(-1)
    closed.receivedBytes += socket.bytesRead
    closed.sentBytes += socket.bytesWritten
  }
  /** Closes an idle connection, if there is one. */
  const makeRoom = () => {
    const { silent, keptAlive, upgraded, listening } = queues
    const socket = silent.oldest() ?? keptAlive.oldest() ?? upgraded.oldest() ?? listening.newest()
    if (socket === undefined) return false
    counts.evicted++
    untrack(socket)
    socket.destroy()
    return true
  }
  return {
    admit(socket) {
      if (slots.count() >= limits.maxConnections && !makeRoom()) {
        refuse(socket)
        return undefined
      }
      slots.add(1)
      counts.accepted++
      const entry = createQueueEntry(socket)
      const idleTracker = createIdleTracker(entry, queues)
      open.set(socket, {
        outputShare: output.open(),
        idleTracker,
        entry,
        readProgress: undefined,
        contendedProgress: undefined,
        isPassed: false,
      })
      socket.on('close', () => untrack(socket))
      return idleTracker
    },
    // A closed socket can still have responses in progress.
    outputShareOf: (socket) => open.get(socket)?.outputShare ?? output.open(),
    idleTrackerOf: (socket) => open.get(socket)?.idleTracker ?? NOT_TRACKED,
    pass(socket) {
      const connection = open.get(socket)
      if (connection === undefined) return
      unlink(connection.entry)
      connection.isPassed = true
      slots.add(-1)
    },
    onSweep: (check) => void checks.push(check),
  }
}

/** Counts the connections of one server. */
function countHere(): ConnectionSlots {
  let count = 0
  return {
    count: () => count,
    add(difference) {
      count += difference
    },
  }
}

/** Idle connections, by the order in which they are closed. */
interface Queues {
  /** No complete request so far. */
  readonly silent: IdleQueue<Socket>
  readonly keptAlive: IdleQueue<Socket>
  /** WebSockets. */
  readonly upgraded: IdleQueue<Socket>
  /** WebSockets with subscriptions. */
  readonly listening: IdleQueue<Socket>
}

function createQueues(): Queues {
  return {
    silent: createIdleQueue(),
    keptAlive: createIdleQueue(),
    upgraded: createIdleQueue(),
    listening: createIdleQueue(),
  }
}

/** The tracker of a new connection. It starts in `silent`. */
function createIdleTracker(entry: QueueEntry<Socket>, { silent, keptAlive, upgraded, listening }: Queues): IdleTracker {
  let queue = silent
  const wait = () => {
    if (!entry.value.destroyed) queue.append(entry)
  }
  wait()
  const idleTracker: IdleTracker = {
    kind: 'http',
    begin: () => unlink(entry),
    end(listens = false) {
      if (idleTracker.kind === 'websocket') queue = listens ? listening : upgraded
      else if (queue === silent) queue = keptAlive
      wait()
    },
    receive: wait,
    upgrade() {
      queue = upgraded
      idleTracker.kind = 'websocket'
      wait()
    },
  }
  return idleTracker
}

function registerConnectionMetrics(
  metrics: Metrics,
  parts: {
    limits: ServerLimits
    open: ReadonlyMap<Socket, Connection>
    closed: { receivedBytes: number; sentBytes: number }
    counts: { accepted: number; refused: number; evicted: number; stalled: number }
  },
): void {
  const { limits, open, closed, counts } = parts
  metrics.gauge(
    'cairn_connections',
    'Open connections by protocol handler: plain, http (the parser of Node.js), websocket.',
    () => {
      const kinds = { plain: 0, http: 0, websocket: 0 }
      for (const { idleTracker, isPassed } of open.values()) if (!isPassed) kinds[idleTracker.kind]++
      return Object.entries(kinds).map(([kind, count]) => [{ kind }, count])
    },
  )
  metrics.gauge('cairn_connections_limit', 'Limit of open connections.', () => limits.maxConnections)
  metrics.counter('cairn_connections_accepted_total', 'Connections taken.', () => counts.accepted)
  metrics.counter(
    'cairn_connections_refused_total',
    'Connections refused because all were in use.',
    () => counts.refused,
  )
  metrics.counter('cairn_connections_evicted_total', 'Idle connections closed for new ones.', () => counts.evicted)
  metrics.counter(
    'cairn_connections_stalled_total',
    'Connections closed because the client did not read its responses.',
    () => counts.stalled,
  )
  const total = (own: 'bytesRead' | 'bytesWritten', before: number) => {
    let sum = before
    for (const socket of open.keys()) sum += socket[own]
    return sum
  }
  metrics.counter('cairn_network_received_bytes_total', 'Bytes received from clients.', () =>
    total('bytesRead', closed.receivedBytes),
  )
  metrics.counter('cairn_network_sent_bytes_total', 'Bytes sent to clients or queued for sending.', () =>
    total('bytesWritten', closed.sentBytes),
  )
}

/** Error for a client that stopped sending its request. */
export const TOO_SLOW: RpcErrorBody = { code: INVALID_REQUEST, message: 'request timed out' }

/** A raw HTTP/1.1 response after which the connection is closed. Used when no complete request is known. */
export function formatRawRefusal(status: 408 | 503): string {
  const body = encodeResponse('null', { error: status === 503 ? BUSY.error : TOO_SLOW })
  const headers = ['Connection', 'close', ...(status === 503 ? retryHeaders(BUSY) : []), ...bodyHeaders(status, body)]
  return formatPlainAnswer(status, headers, body).join('')
}

/** Bytes that the kernel has accepted. Node checks the same two values before it times out a socket;
 *  `socket.bytesWritten` includes queued bytes. */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle: { bytesWritten: number; writeQueueSize: number } | null }
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize
}
