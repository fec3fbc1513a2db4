import { availableParallelism } from 'node:os'
import type { SharedWork } from '../../index/logs/sharedBatches.js'
import { describeError } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { Metrics } from '../../lib/metrics.js'
import { BoundCall } from '../../rpc/core/boundCall.js'
import type { CallOrigin, ClientId, RemoteRunner } from '../../rpc/core/dispatch.js'
import type { RpcOutcome } from '../../rpc/core/envelope.js'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  LIMIT_EXCEEDED,
  type RpcErrorBody,
  SERVER_BUSY,
} from '../../rpc/core/errors.js'
import type { Method } from '../../rpc/core/method.js'
import { createResultQueue, type ResultQueue } from '../../rpc/core/resultStream.js'
import { callTimeoutError, QUERY_TIMEOUT_ERROR } from '../../rpc/core/runCall.js'
import { helpWithLogs } from '../../rpc/eth/helpWithLogs.js'
import type { DatabaseFile } from '../../store/pages/databaseFile.js'
import { QUICK_NICENESS, READER_NICENESS } from '../priority.js'
import { registerPoolMetrics } from './poolMetrics.js'
import { DEFAULT_IDLE_MS, Population } from './population.js'
import { createQuickPolicy, QUICK_CALL_MS } from './quickQueue.js'
import { type JobFlow, type ReaderData, ReaderHandle } from './readerHandle.js'
import { MAX_JOBS, type RemoteCost, type ScheduledJob, type ScheduledThread, Scheduler } from './scheduler.js'

/** Queue length per class. More would only wait to be rejected; 1,000 are a full batch. */
const MAX_QUEUED = 1024

/** Max requests that wait for the quick queue; beyond, new ones wait for other threads. */
const MAX_QUICK_WAITING = 64

/** The pool answers a request that has not reported its timeout this long after its deadline. */
const GRACE_MS: Record<RemoteCost, number> = { evm: 20, scan: 500, quick: 500 }

/** After its request was answered by the pool, a thread may run this long before it is terminated: Cairn's
 *  interpreter checks the clock, but not inside precompiles. The reference interpreter never does. */
const LINGER_MS = 480

/** The last thread of a pool at rest returns what all have freed after this share of the time after which a pool rests:
 *  20 s. The others have ended by then, and V8 has freed what was collected. */
const FREED_SHARE = 2 / 3

/** Default threads per class: half of the cores, at least two, so that one long query does not block the others; at
 *  most eight, because each takes 40 to 80 MB. */
export function defaultThreads(): number {
  return Math.max(2, Math.min(8, Math.floor(availableParallelism() / 2)))
}

/** Options of a pool. */
interface ReaderPoolOptions
  extends Omit<
    ReaderData,
    'databaseFile' | 'loadEvm' | 'warmLogs' | 'awaited' | 'niceness' | 'freedAfterMs' | 'claims' | 'flow'
  > {
  readonly databaseFile?: DatabaseFile
  readonly scanThreads: number
  readonly evmThreads: number
  /** Milliseconds without requests after which all threads but one are ended. Default: 30,000. */
  readonly idleMs?: number
  /** Called when no request has arrived for that long. */
  onRest?(): void
  readonly log: Logger
  readonly metrics: Metrics
}

interface PoolJob extends ScheduledJob {
  readonly resolve: (outcome: RpcOutcome) => void
  /** Groups requests of similar duration. */
  readonly key: string | undefined
  /** True on the second try. */
  isRetry?: boolean
  /** True if it was considered for the quick queue while it waited. */
  wasConsidered?: boolean
  timer?: NodeJS.Timeout
  /** The parts of a long result, once the first has arrived. */
  queue?: ResultQueue
  done: boolean
}

type Thread = ScheduledThread<PoolJob>

/** The client of calls without one. No number: these are ids of keys, which may be revoked. */
const NO_CLIENT: ClientId = {}

const NOT_COPIED: RpcErrorBody = { code: INVALID_PARAMS, message: 'params: cannot be read, being nested too deep' }
const INTERNAL: RpcErrorBody = { code: INTERNAL_ERROR, message: 'internal error' }

/** Reader threads. Starts one thread at first, and when requests need more the threads of each class and a warm spare,
 *  which replaces terminated threads: terminating takes 4 to 7 ms, starting 360 to 630 ms. A request goes to the least
 *  busy thread of its class, or waits in the queue of the class while all are full. */
export class ReaderPool implements RemoteRunner {
  readonly #options: ReaderPoolOptions
  readonly #limitMs: Record<RemoteCost, number>
  readonly #threads = new Set<Thread>()
  readonly #scheduler: Scheduler<PoolJob>
  readonly #population: Population<PoolJob>
  readonly #freedAfterMs: number
  readonly #quickPolicy = createQuickPolicy()
  // By client: the keys of its calls are in the client's control, without limit.
  readonly #quickCalls = createQuickPolicy<ClientId>(0)
  #lost = 0
  #helps = 0
  #calls = 0
  #isClosed = false

  constructor(options: ReaderPoolOptions) {
    const { limits, idleMs = DEFAULT_IDLE_MS } = options
    this.#options = options
    this.#freedAfterMs = idleMs * FREED_SHARE
    this.#limitMs = { scan: limits.logsTimeoutMs, evm: limits.callTimeoutMs, quick: limits.logsTimeoutMs }
    const wanted: Record<RemoteCost, number> = { scan: options.scanThreads, evm: options.evmThreads, quick: 1 }
    const threads = this.#threads
    this.#scheduler = new Scheduler({
      threads,
      wanted,
      onRefused: (job, error) => this.#refuse(job, error),
      grantQuickCall: (job) => this.#grantQuickCall(job),
    })
    this.#population = new Population({
      ...{ threads, wanted, scheduler: this.#scheduler, idleMs },
      start: (cost, isAwaited) => this.#start(cost, isAwaited),
      onRest: ({ reader }) => {
        reader.rest()
        options.onRest?.()
      },
    })
    registerPoolMetrics(options.metrics, {
      threads,
      scheduler: this.#scheduler,
      lost: () => this.#lost,
      helps: () => this.#helps,
    })
    this.#population.fill()
  }

  run(call: BoundCall, { client = NO_CLIENT, sinceMs, costKey }: CallOrigin = {}): Promise<RpcOutcome> {
    const own = call.method.cost === 'evm' ? 'evm' : 'scan'
    const key = own === 'scan' ? (costKey ?? call.method.costKey?.(call.values)) : undefined
    const tryMs = this.#quickTime(own, key)
    const cost = tryMs === undefined ? own : 'quick'
    if (this.#isClosed) return Promise.resolve({ error: INTERNAL })
    const queuedMs = performance.now()
    const { queueTimeoutMs, traceTimeoutMs } = this.#options.limits
    const limitMs = call.method.isTrace ? traceTimeoutMs : this.#limitMs[cost]
    const runMs = limitMs - (sinceMs === undefined ? 0 : queuedMs - sinceMs)
    if (runMs <= 0) return Promise.resolve({ error: timeoutError(cost, limitMs, call.method) })
    return new Promise((resolve) => {
      const limits = { queuedMs, runMs, limitMs, tryMs }
      const job: PoolJob = { cost, ownCost: own, client, call, key, ...limits, assignedMs: 0, resolve, done: false }
      if (own === 'evm') this.#calls++
      this.#enforceLimits(job, Math.min(queueTimeoutMs, runMs + GRACE_MS[cost]))
      this.#schedule(job)
    })
  }

  /** Has an idle thread do work of a request, if there is one. */
  #help({ client, done }: PoolJob, work: SharedWork): void {
    if (done) return
    if (!this.#scheduler.hasIdle('scan')) {
      this.#population.wish()
      return
    }
    this.#helps++
    void this.run(new BoundCall(helpWithLogs, [], [work]), { client })
  }

  /** Ends the help that threads give: a request waits. */
  #endHelp(): void {
    for (const { reader } of this.#threads) {
      for (const job of reader.jobs()) if (job.call.method === helpWithLogs) reader.abort(job)
    }
  }

  /** Resolves once the first thread is warm: it has run a call and a log query. */
  warm(): Promise<void> {
    return this.#population.warm()
  }

  /** Starts all threads now instead of when requests need them; resolves once they and the spare are warm. */
  ready(): Promise<void> {
    return this.#population.ready()
  }

  /** Clients with waiting or running requests. */
  clients(): Iterable<ClientId> {
    return this.#scheduler.clients()
  }

  /** Answers all requests of a client with the error, and makes threads stop them. */
  abort(client: ClientId, error: RpcErrorBody): void {
    for (const job of this.#scheduler.withdrawClient(client)) this.#finish(job, { error })
    for (const thread of [...this.#threads]) {
      const jobs = [...thread.reader.jobs()]
      for (const job of jobs) if (job.client === client && !job.done) this.#giveUp(job, thread, error)
    }
    this.#scheduler.refillAll()
  }

  /** Number of calls assigned to threads or waiting for one. */
  pendingCalls(): number {
    return this.#calls
  }

  /** Number of living threads, including the spare. */
  threadCount(): number {
    return this.#threads.size
  }

  /** Number of threads lost since the start: terminated because a request did not stop, or ended by themselves. */
  lostThreads(): number {
    return this.#lost
  }

  /** Ends all threads; running and waiting requests get `internal error`. */
  async close(): Promise<void> {
    this.#isClosed = true
    const ended = this.#population.close()
    this.#scheduler.stop()
    for (const job of this.#scheduler.drain()) this.#finish(job, { error: INTERNAL })
    const living = [...this.#threads]
    for (const thread of living) this.#remove(thread)
    await Promise.all([ended, ...living.map(({ reader }) => reader.end())])
  }

  #schedule(job: PoolJob): void {
    this.#population.use(job.cost)
    this.#scheduler.enqueue(job)
    if (job.cost === 'scan' && this.#scheduler.waiting('scan') > 0) this.#endHelp()
    if (this.#scheduler.waiting(job.cost) <= MAX_QUEUED) return
    this.#finish(this.#scheduler.takeFromGreediest(job.cost)!, { error: SERVER_BUSY })
  }

  #refuse(job: PoolJob, error: unknown): void {
    const { method } = job.call
    this.#options.log.warn({ method: method.name, error: describeError(error) }, 'could not hand a request to a thread')
    this.#finish(job, { error: NOT_COPIED })
  }

  #finish(job: PoolJob, outcome: RpcOutcome): void {
    if (job.done) return
    job.done = true
    clearTimeout(job.timer)
    if (job.ownCost === 'evm') this.#calls--
    const { queue } = job
    if (queue === undefined) job.resolve(outcome)
    else if ('error' in outcome) queue.fail(outcome.error)
    else {
      queue.push(outcome.result)
      queue.end()
    }
  }

  #start(cost: RemoteCost | undefined, isAwaited: boolean): void {
    const { datadir, databaseFile, limits, compatibility, logging, methodsModule, evm, cursorSecret, log } =
      this.#options
    const data = {
      ...{ datadir, databaseFile, limits, compatibility, logging, methodsModule, evm, cursorSecret },
      loadEvm: cost !== 'scan',
      warmLogs: cost !== 'evm',
      awaited: isAwaited,
      niceness: cost === 'quick' ? QUICK_NICENESS : READER_NICENESS,
      freedAfterMs: this.#freedAfterMs,
    }
    const maxJobs = cost === undefined ? Math.max(...Object.values(MAX_JOBS)) : MAX_JOBS[cost]
    const reader = new ReaderHandle<PoolJob>(data, maxJobs, {
      onReady: () => {
        this.#population.fill()
        this.#population.settle(thread)
        this.#scheduler.refill(thread)
      },
      onOutcome: (job, outcome) => {
        if (job.tryMs !== undefined) this.#noteTry(job, true)
        this.#finish(job, outcome)
        this.#refillAfter(thread)
      },
      onUnfinished: (job) => {
        this.#noteTry(job, false)
        if (!job.done) this.#tryAgain(job)
        this.#refillAfter(thread)
      },
      onHelpWanted: (job, work) => this.#help(job, work),
      onPart: (job, part, flow) => addPart(job, part, flow),
      onError: (error) => log.error({ error: describeError(error) }, 'a reader thread failed'),
      onExit: () => this.#remove(thread),
    })
    const thread: Thread = { reader, cost }
    this.#threads.add(thread)
  }

  #refillAfter(thread: Thread): void {
    this.#population.settle(thread)
    if (thread.cost !== undefined) this.#scheduler.refill(thread)
    else this.#scheduler.refillAll() // a lent thread: its client may have its turn elsewhere again
  }

  /** Called when a thread is gone or will be terminated: started requests are answered with an error; the spare
   *  takes its place and the other requests. */
  #remove(thread: Thread): void {
    if (!this.#threads.delete(thread)) return
    const { waiting, begun } = thread.reader.withdrawAll()
    for (const job of begun) this.#finish(job, { error: INTERNAL })
    if (this.#isClosed) {
      for (const job of waiting) this.#finish(job, { error: INTERNAL })
      return
    }
    this.#lost++
    // Another thread for the quick queue takes half a second to start.
    for (const job of waiting) if (job.cost === 'quick') Object.assign(job, { cost: job.ownCost, tryMs: undefined })
    this.#scheduler.putBack(waiting)
    this.#population.replace(thread)
    this.#scheduler.refillAll()
  }

  #hasQuickRoom(): boolean {
    if (this.#scheduler.waiting('quick') >= MAX_QUICK_WAITING) return false
    for (const thread of this.#threads) if (thread.cost === 'quick' && thread.reader.ready) return true
    return false
  }

  /** Returns the milliseconds to try a request in the quick queue, if it should be and that queue is not full. */
  #quickTime(cost: RemoteCost, key: string | undefined): number | undefined {
    return cost === 'scan' && key !== undefined && this.#hasQuickRoom() ? this.#quickPolicy.grant(key) : undefined
  }

  #grantQuickCall(job: PoolJob): number | undefined {
    if (job.wasConsidered || this.#options.evm !== 'cairn' || !this.#hasQuickRoom()) return undefined
    job.wasConsidered = true
    return this.#quickCalls.grant(job.client) && QUICK_CALL_MS
  }

  #noteTry(job: PoolJob, finished: boolean): void {
    if (job.ownCost === 'evm') this.#quickCalls.note(job.client, finished)
    else if (job.key !== undefined) this.#quickPolicy.note(job.key, finished)
  }

  /** Tries a request again in the quick queue, if it should be, else enqueues it after the others of its class. */
  #tryAgain(job: PoolJob): void {
    job.tryMs = job.isRetry || job.ownCost === 'evm' ? undefined : this.#quickPolicy.grantAgain(job.key!)
    job.isRetry = true
    if (job.tryMs === undefined) job.cost = job.ownCost
    this.#schedule(job)
  }

  /** Enforces the queue timeout and the time limit of a request, the first time in `inMs`. */
  #enforceLimits(job: PoolJob, inMs: number): void {
    job.timer = setTimeout(() => {
      const { queueTimeoutMs } = this.#options.limits
      const holder = [...this.#threads].find(({ reader }) => reader.has(job))
      const begunMs = holder?.reader.begunMs(job)
      const endMs = begunMs === undefined ? job.queuedMs + queueTimeoutMs : begunMs + job.runMs + GRACE_MS[job.cost]
      const leftMs = endMs - performance.now()
      if (leftMs > 0) this.#enforceLimits(job, Math.ceil(leftMs))
      else if (begunMs !== undefined)
        this.#giveUp(job, holder!, timeoutError(job.ownCost, job.limitMs, job.call.method))
      else if (this.#scheduler.withdraw(job)) this.#finish(job, { error: waitedTooLong(queueTimeoutMs) })
      else if (holder !== undefined)
        this.#enforceLimits(job, job.runMs) // it was just started
      else {
        this.#options.log.error({ method: job.call.method.name }, 'a request is neither in a queue nor in a thread')
        this.#finish(job, { error: INTERNAL })
      }
    }, inMs)
  }

  /** Answers a started request with an error. Its thread is replaced unless it stops. */
  #giveUp(job: PoolJob, holder: Thread, error: RpcErrorBody): void {
    this.#finish(job, { error })
    holder.reader.abort(job)
    const end = () => {
      // It may have answered since, and started another one.
      if (!holder.reader.has(job) || !this.#threads.has(holder)) return
      this.#options.log.warn(
        { method: job.call.method.name, limitMs: job.limitMs },
        'a request ran past its time; its thread is replaced',
      )
      this.#remove(holder)
      void holder.reader.end()
    }
    const hadTime = performance.now() - (holder.reader.begunMs(job) ?? 0) >= job.runMs
    if (job.cost !== 'evm' && hadTime) end()
    else {
      if (job.cost === 'evm') this.#scheduler.exchangeForSpare(holder)
      setTimeout(end, LINGER_MS).unref()
    }
  }
}

/** Adds a part of a long result; the first one is the start of the answer. */
function addPart(job: PoolJob, part: Uint8Array, flow: JobFlow): void {
  if (job.done) flow.abandon()
  else if (job.queue !== undefined) job.queue.push(part)
  else {
    job.queue = createResultQueue(flow.release, flow.abandon)
    flow.release(part.length)
    job.resolve({ result: part, rest: job.queue.stream })
  }
}

function timeoutError(cost: RemoteCost, limitMs: number, method: Method): RpcErrorBody {
  return cost === 'evm' ? callTimeoutError(limitMs, method) : QUERY_TIMEOUT_ERROR
}

function waitedTooLong(limitMs: number): RpcErrorBody {
  return { code: LIMIT_EXCEEDED, message: `server busy: no thread took the request within ${limitMs / 1000}s` }
}
