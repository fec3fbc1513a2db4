import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Metrics } from '../../lib/metrics.js'
import { encodeResponse } from '../../rpc/core/envelope.js'
import { INVALID_REQUEST, type RpcErrorBody } from '../../rpc/core/errors.js'
import { retryHeaders } from '../exchange.js'
import { BUSY } from '../limits/admission.js'
import type { ServerLimits } from '../limits/limits.js'
import type { Lane, OutputBudget } from '../limits/outputBudget.js'
import { createProgress, type Progress } from '../limits/progress.js'
import type { ReadBudget } from '../limits/readBudget.js'
import { createIdleQueue, createQueueEntry, type IdleQueue, type QueueEntry, unlink } from './idleQueue.js'
import { bodyHeaders, formatPlainAnswer } from './responseParts.js'

/** The connections of a server, whoever speaks on them. */
export interface Connections {
  /** Takes a new connection. When there are as many as may be, the one that has been idle longest is closed: first those that
   *  never sent a whole request, then those kept alive, WebSockets last. Undefined when none is idle, and it is refused. */
  admit(socket: Socket): Activity | undefined
  /** Of an open connection. */
  activityOf(socket: Socket): Activity
  /** Of an open connection. */
  laneOf(socket: Socket): Lane
  /** Checks regularly until the server closes; `check` gets the time of `performance.now()`. */
  onSweep(check: (nowMs: number) => void): void
}

/** Who speaks on a connection: our reader of plain requests, Node's HTTP parser, or `ws`. */
export type ConnectionKind = 'plain' | 'http' | 'websocket'

/** Keeps the place of a connection among those that may be closed for others. */
export interface Activity {
  kind: ConnectionKind
  /** A whole request has come: the connection is not closed for another. */
  begin(): void
  /** All requests that have come are answered. */
  end(): void
  /** A request is being received: the connection may be closed, the sooner the longer nothing comes. */
  receive(): void
  /** The connection is a WebSocket from now on. */
  upgrade(): void
}

const NO_ACTIVITY: Activity = { kind: 'http', begin() {}, end() {}, receive() {}, upgrade() {} }

const SWEEP_MS = 1000

/** While others wait for memory, a client that holds much is cut off when it takes less than 16 kB/s. */
const CONTENDED_RULE = { stallMs: 5000, leastBytes: 80_000 }
const MUCH_BYTES = 1_000_000

/** Refused connections that are answered; more at a time are just closed. */
const MAX_REFUSED = 100
/** A refused connection lives on for so long, so that the answer reaches the client. */
const LINGER_MS = 500

interface Connection {
  readonly lane: Lane
  readonly activity: Activity
  readonly entry: QueueEntry<Socket>
  /** Of a client with something to take. */
  taking: Progress | undefined
  takingFast: Progress | undefined
}

/** What connections are watched with. */
export interface WatchOptions {
  readonly limits: ServerLimits
  readonly output: OutputBudget
  readonly reads: ReadBudget
  readonly metrics: Metrics
}

/** Keeps the connections of a server below a number, and cuts off clients that do not take their answers. */
export function watchConnections(server: Server, { limits, output, reads, metrics }: WatchOptions): Connections {
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
      connection.taking = undefined
      connection.takingFast = undefined
      return false
    }
    const taken = takenBytes(socket)
    connection.taking ??= createProgress(rule, nowMs)
    if (connection.taking.isStalled(taken, nowMs)) return true
    if (!output.isContended() || connection.lane.usedBytes() < MUCH_BYTES) {
      connection.takingFast = undefined
      return false
    }
    connection.takingFast ??= createProgress(CONTENDED_RULE, nowMs)
    return connection.takingFast.isStalled(taken, nowMs)
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
  const forget = (socket: Socket) => {
    const connection = open.get(socket)
    if (connection === undefined) return
    unlink(connection.entry)
    open.delete(socket)
    closed.receivedBytes += socket.bytesRead
    closed.sentBytes += socket.bytesWritten
  }
  /** Closes an idle connection, if there is one. */
  const makeRoom = () => {
    const socket = queues.silent.oldest() ?? queues.keptAlive.oldest() ?? queues.upgraded.oldest()
    if (socket === undefined) return false
    counts.evicted++
    forget(socket)
    socket.destroy()
    return true
  }
  return {
    admit(socket) {
      if (open.size >= limits.maxConnections && !makeRoom()) {
        refuse(socket)
        return undefined
      }
      counts.accepted++
      const entry = createQueueEntry(socket)
      const activity = createActivity(entry, queues)
      open.set(socket, { lane: output.openLane(), activity, entry, taking: undefined, takingFast: undefined })
      socket.on('close', () => forget(socket))
      return activity
    },
    // A socket that was closed meanwhile still has answers on their way.
    laneOf: (socket) => open.get(socket)?.lane ?? output.openLane(),
    activityOf: (socket) => open.get(socket)?.activity ?? NO_ACTIVITY,
    onSweep: (check) => void checks.push(check),
  }
}

/** Connections that may be closed for others. */
interface Queues {
  /** That never sent a whole request. */
  readonly silent: IdleQueue<Socket>
  readonly keptAlive: IdleQueue<Socket>
  /** WebSockets. */
  readonly upgraded: IdleQueue<Socket>
}

function createQueues(): Queues {
  return { silent: createIdleQueue(), keptAlive: createIdleQueue(), upgraded: createIdleQueue() }
}

/** The activity of a new connection, which is silent. */
function createActivity(entry: QueueEntry<Socket>, { silent, keptAlive, upgraded }: Queues): Activity {
  let queue = silent
  const wait = () => {
    if (!entry.value.destroyed) queue.append(entry)
  }
  wait()
  const activity: Activity = {
    kind: 'http',
    begin: () => unlink(entry),
    end() {
      if (queue === silent) queue = keptAlive
      wait()
    },
    receive: wait,
    upgrade() {
      queue = upgraded
      activity.kind = 'websocket'
      wait()
    },
  }
  return activity
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
    'Open connections by who reads them: plain, http (the parser of Node.js), websocket.',
    () => {
      const kinds = { plain: 0, http: 0, websocket: 0 }
      for (const { activity } of open.values()) kinds[activity.kind]++
      return Object.entries(kinds).map(([kind, count]) => [{ kind }, count])
    },
  )
  metrics.gauge('cairn_connections_limit', 'Connections that may be open.', () => limits.maxConnections)
  metrics.counter('cairn_connections_accepted_total', 'Connections taken.', () => counts.accepted)
  metrics.counter(
    'cairn_connections_refused_total',
    'Connections refused with all taken and none idle.',
    () => counts.refused,
  )
  metrics.counter('cairn_connections_evicted_total', 'Idle connections closed for new ones.', () => counts.evicted)
  metrics.counter(
    'cairn_connections_stalled_total',
    'Connections cut off since the client did not take its answers.',
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
  metrics.counter('cairn_network_sent_bytes_total', 'Bytes sent to clients, or queued for them.', () =>
    total('bytesWritten', closed.sentBytes),
  )
}

/** What a client is told that does not go on with its request. */
export const TOO_SLOW: RpcErrorBody = { code: INVALID_REQUEST, message: 'the request came too slowly' }

/** An answer of HTTP/1.1 after which the connection is closed, to a client of which no whole request is known. */
export function formatRawRefusal(status: 408 | 503): string {
  const body = encodeResponse('null', { error: status === 503 ? BUSY.error : TOO_SLOW })
  const headers = ['Connection', 'close', ...(status === 503 ? retryHeaders(BUSY) : []), ...bodyHeaders(status, body)]
  return formatPlainAnswer(status, headers, body).join('')
}

/** Bytes that the system has taken of what was written. Node looks at the same two numbers before it lets a socket's timeout
 *  happen; `bytesWritten` of the socket counts what is queued too. */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { _handle: { bytesWritten: number; writeQueueSize: number } | null }
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize
}
