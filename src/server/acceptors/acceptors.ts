import { describeError } from '../../lib/errors.js'
import { type MetricFigures, registerFigures } from '../../lib/metrics.js'
import { parseBody } from '../../rpc/core/envelope.js'
import { Thread } from '../../workers/spawn.js'
import { isRefusal } from '../access/access.js'
import type { RateLimiter } from '../access/rateLimit.js'
import type { OutputShare } from '../admission/outputBudget.js'
import { clearConnectionSlots } from '../connections/connections.js'
import { beginExchange, type ServerOptions } from '../exchange.js'
import { handleRequest } from '../handleRequest.js'
import type { HttpServer } from '../http/httpServer.js'
import { respondRefusal } from '../respond.js'
import type { AcceptorCommand, AcceptorData, AcceptorReport, PassedRequest } from './messages.js'
import { createPassedConnections } from './passedConnections.js'
import { type PassedConnection, PassedReply } from './passedReply.js'

/** Threads that accept connections on the port of the main thread. */
export interface Acceptors {
  /** Starts the threads; resolves when all listen, or could not. */
  start(address: { host: string; port: number }): Promise<void>
  /** Resolves when the metrics of the threads are current. */
  refresh(): Promise<void>
  /** Closes their ports; resolves when all requests are answered and the threads have ended. */
  close(): Promise<void>
  /** Ends their connections. */
  cut(): void
}

interface AcceptorsOptions {
  readonly count: number
  /** Start data without what `start` and this module add. */
  readonly data: Omit<AcceptorData, 'host' | 'port' | 'passing' | 'thread'>
  readonly http: HttpServer
  readonly server: ServerOptions
  readonly limiter: RateLimiter
  /** Receives the number of calls that threads have answered. */
  onCalls(count: number): void
}

/** A thread that ended by itself is replaced after this long. */
const RESTART_MS = 1000

/** Longest wait for the metrics of a thread. */
const REFRESH_MS = 500

/** Creates `count` acceptor threads, not started yet. */
export function createAcceptors(options: AcceptorsOptions): Acceptors {
  const { http, server, count } = options
  const { log, metrics } = server
  const passed = createPassedConnections((socket) => void http.server.emit('connection', socket))
  const threads = new Set<AcceptorHandle>()
  const registered = new Set<string>()
  let isClosed = false
  const readFamily = (name: string) =>
    [...threads].flatMap(({ figures }) => figures.filter((family) => family.name === name))
  const onFigures = (figures: MetricFigures) => {
    const added = figures.filter(({ name }) => !registered.has(name))
    for (const { name } of added) registered.add(name)
    registerFigures(metrics, added, readFamily)
  }
  const start = (data: AcceptorData): Promise<void> =>
    new Promise((resolve) => {
      const thread = new AcceptorHandle(data, options, { onListening: resolve, onFigures })
      threads.add(thread)
      void thread.exited.then((error) => {
        threads.delete(thread)
        clearConnectionSlots(data.connectionSlots, data.thread)
        resolve()
        if (isClosed) return
        const problem = error === undefined ? thread.problem : describeError(error)
        log.error({ error: problem, restartInMs: RESTART_MS }, 'a thread that accepts connections ended')
        setTimeout(() => {
          if (!isClosed) void start(data)
        }, RESTART_MS).unref()
      })
    })
  return {
    async start({ host, port }) {
      await passed.listen()
      const data = { ...options.data, host, port, passing: { path: passed.path, token: passed.token } }
      await Promise.all(Array.from({ length: count }, (_, i) => start({ ...data, thread: i + 1 })))
    },
    async refresh() {
      await Promise.all([...threads].map((thread) => thread.refresh()))
    },
    async close() {
      isClosed = true
      const living = [...threads]
      for (const thread of living) thread.post({ kind: 'stop' })
      await Promise.all(living.map(({ exited }) => exited))
      await passed.close()
    },
    cut() {
      for (const thread of threads) thread.post({ kind: 'cut' })
    },
  }
}

interface AcceptorEvents {
  onListening(): void
  onFigures(figures: MetricFigures): void
}

/** An acceptor thread seen from the main thread. */
class AcceptorHandle {
  /** Resolves when the thread has ended: with the error that it threw, if any. */
  readonly exited: Promise<unknown>
  /** Why it could not listen. */
  problem: string | undefined
  /** Its metrics as last reported. */
  figures: MetricFigures = []
  readonly #options: AcceptorsOptions
  readonly #events: AcceptorEvents
  readonly #thread: Thread<AcceptorCommand, AcceptorReport>
  /** Connections with passed requests. */
  readonly #connections = new Map<number, PassedConnection & { readonly outputShare: OutputShare }>()
  readonly #replies = new Map<number, PassedReply>()
  /** Keys whose buckets the thread has. */
  readonly #shared = new Set<number>()
  #onFresh: (() => void)[] = []

  constructor(data: AcceptorData, options: AcceptorsOptions, events: AcceptorEvents) {
    this.#options = options
    this.#events = events
    this.#thread = new Thread(new URL('./acceptorThread.js', import.meta.url), {
      data,
      onMessage: (report) => this.#receive(report),
      onEnd: () => this.#end(),
    })
    this.exited = this.#thread.exited
  }

  post = (command: AcceptorCommand): void => this.#thread.post(command)

  /** Resolves when `figures` are current, the thread has ended, or it is too busy to report. */
  refresh(): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, REFRESH_MS).unref()
      this.#onFresh.push(resolve)
      this.post({ kind: 'report' })
    })
  }

  #receive(report: AcceptorReport): void {
    const { server, onCalls } = this.#options
    switch (report.kind) {
      case 'listening':
        this.#events.onListening()
        break
      case 'failed':
        this.problem = report.message
        break
      case 'request':
        this.#handle(report)
        break
      case 'taken':
        this.#take(report.id)
        break
      case 'left':
        this.#leave(report.connection)
        break
      case 'closed':
        this.#close(report.connection)
        break
      case 'lines':
        for (const line of report.lines) server.accounting?.accessLog?.write(line)
        break
      case 'figures':
        this.figures = report.metrics
        this.#events.onFigures(report.metrics)
        onCalls(report.calls)
        for (const { keyId, method, figures } of report.usage) server.accounting?.usage?.add(keyId, method, figures)
        this.#release()
    }
  }

  #handle({ id, connection: number, head, body, remoteAddress, isCharged }: PassedRequest): void {
    const { server, http } = this.#options
    const { path, authorization, apiKey, origin, acceptEncoding, minBlock } = head
    const connection = this.#connections.get(number) ?? {
      ...{ hasLeft: false, isClosed: false, lastId: id, outputShare: server.admission.output.open() },
    }
    connection.lastId = id
    this.#connections.set(number, connection)
    const reply = new PassedReply(id, connection, this.post)
    this.#replies.set(id, reply)
    const caller = server.access.identify({ path, authorization, apiKey, remoteAddress }, '/v3')!
    const key = isRefusal(caller) ? undefined : caller.name
    const client = { origin, acceptEncoding, minBlock, remoteAddress, key }
    const { compressor } = http
    const { outputShare } = connection
    const exchange = beginExchange(server, { compressor, client, reply, outputShare, isCharged })
    // Its key was revoked meanwhile.
    if (isRefusal(caller)) return void respondRefusal(exchange, caller, parseBody(body))
    handleRequest(exchange, caller, body)
    if (caller.keyId !== undefined) this.#shareBucket(caller.keyId)
  }

  #shareBucket(keyId: number): void {
    if (this.#shared.has(keyId)) return
    const memory = this.#options.limiter.share(keyId)
    if (memory === undefined) return
    this.#shared.add(keyId)
    this.post({ kind: 'bucket', keyId, memory })
  }

  #take(id: number): void {
    const reply = this.#replies.get(id)
    if (reply?.isWhole()) this.#replies.delete(id)
    reply?.taken()
  }

  #leave(number: number): void {
    const connection = this.#connections.get(number)
    if (connection !== undefined) connection.hasLeft = true
  }

  #close(number: number): void {
    const connection = this.#connections.get(number)
    if (connection === undefined) return
    connection.isClosed = true
    this.#connections.delete(number)
    this.#replies.get(connection.lastId)?.taken()
    this.#replies.delete(connection.lastId)
  }

  #release(): void {
    const waiting = this.#onFresh
    this.#onFresh = []
    for (const done of waiting) done()
  }

  /** The clients of its requests are gone. */
  #end(): void {
    for (const connection of this.#connections.values()) connection.isClosed = true
    for (const reply of this.#replies.values()) reply.taken()
    this.#release()
  }
}
