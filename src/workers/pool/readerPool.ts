import { availableParallelism } from 'node:os'
import { describeError } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { Metrics } from '../../lib/metrics.js'
import { type ClientId, callTimeoutError, QUERY_TIMEOUT_ERROR, type RemoteRunner } from '../../rpc/core/dispatch.js'
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
import { QUICK_NICENESS, READER_NICENESS } from '../priority.js'
import { registerPoolMetrics } from './poolMetrics.js'
import { createPopulation } from './population.js'
import type { ReaderData } from './protocol.js'
import { createQuickPolicy, QUICK_CALL_MS } from './quickQueue.js'
import { type JobFlow, startReaderThread } from './readerHandle.js'
import { createScheduler, MAX_JOBS, type RemoteCost, type ScheduledJob, type ScheduledThread } from './scheduler.js'

/** Queue length per class. More would only wait to be rejected; 1,000 are a full batch. */
const MAX_QUEUED = 1024

/** Max requests that wait for the quick queue; beyond, new ones wait for other threads. */
const MAX_QUICK_WAITING = 64

/** The pool answers a request that has not reported its timeout this long after its deadline. */
const GRACE_MS: Record<RemoteCost, number> = { evm: 20, scan: 500, quick: 500 }

/** After its request was answered by the pool, a thread may run this long before it is terminated: Cairn's
 *  interpreter checks the clock, but not inside precompiles. The reference interpreter never does. */
const LINGER_MS = 480

/** Default threads per class: half of the cores, at least two, so that one long query does not block the others; at
 *  most eight, because each takes 40 to 80 MB. */
export function defaultThreads(): number {
  return Math.max(2, Math.min(8, Math.floor(availableParallelism() / 2)))
}

/** Options of a pool. */
export interface ReaderPoolOptions
  extends Omit<ReaderData, 'loadEvm' | 'warmLogs' | 'awaited' | 'niceness' | 'claims' | 'flow'> {
  readonly scanThreads: number
  readonly evmThreads: number
  /** Milliseconds without requests after which all threads but one are ended. Default: 30,000. */
  readonly idleMs?: number
  /** Called when no request has arrived for that long. */
  onRest?(): void
  readonly log: Logger
  readonly metrics: Metrics
}

/** Reader threads. */
export interface ReaderPool extends RemoteRunner {
  /** Resolves once the first thread is warm: it has run a call and a log query. */
  warm(): Promise<void>
  /** Starts all threads now instead of when requests need them; resolves once they and the spare are warm. */
  ready(): Promise<void>
  /** Clients with waiting or running requests. */
  clients(): Iterable<ClientId>
  /** Answers all requests of a client with the error, and makes threads stop them. */
  abort(client: ClientId, error: RpcErrorBody): void
  /** Number of calls assigned to threads or waiting for one. */
  pendingCalls(): number
  /** Number of living threads, including the spare. */
  threadCount(): number
  /** Number of threads lost since the start: terminated because a request did not stop, or ended by themselves. */
  lostThreads(): number
  /** Ends all threads; running and waiting requests get `internal error`. */
  close(): Promise<void>
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

/** The client of calls without one. */
const NO_CLIENT: ClientId = 0

const NOT_COPIED: RpcErrorBody = { code: INVALID_PARAMS, message: 'params: cannot be read, being nested too deep' }
const INTERNAL: RpcErrorBody = { code: INTERNAL_ERROR, message: 'internal error' }

/** Creates a pool. Starts one thread at first, and when requests need more the threads of each class and a warm
 *  spare, which replaces terminated threads: terminating takes 4 to 7 ms, starting 360 to 630 ms. A request goes to
 *  the least busy thread of its class, or waits in the queue of the class while all are full. */
export function createReaderPool(options: ReaderPoolOptions): ReaderPool {
  const { log } = options
  const limitMs: Record<RemoteCost, number> = {
    scan: options.limits.logsTimeoutMs,
    evm: options.limits.callTimeoutMs,
    quick: options.limits.logsTimeoutMs,
  }
  const wanted: Record<RemoteCost, number> = { scan: options.scanThreads, evm: options.evmThreads, quick: 1 }
  const quickPolicy = createQuickPolicy()
  // By client: the keys of its calls are in the client's control, without limit.
  const quickCalls = createQuickPolicy<ClientId>(0)
  const { queueTimeoutMs } = options.limits
  const threads = new Set<Thread>()
  const scheduler = createScheduler<PoolJob>({
    threads,
    wanted,
    onRefused(job, error) {
      log.warn({ method: job.call.method.name, error: describeError(error) }, 'could not hand a request to a thread')
      finish(job, { error: NOT_COPIED })
    },
    grantQuickCall(job) {
      if (job.wasConsidered || options.evm !== 'cairn' || !hasQuickRoom()) return undefined
      job.wasConsidered = true
      return quickCalls.grant(job.client) && QUICK_CALL_MS
    },
  })
  const population = createPopulation<PoolJob>({
    ...{ threads, wanted, scheduler, idleMs: options.idleMs },
    start: (cost, isAwaited) => start(cost, isAwaited),
    onRest({ reader }) {
      reader.rest()
      options.onRest?.()
    },
  })
  let lost = 0
  let closed = false
  let calls = 0

  const finish = (job: PoolJob, outcome: RpcOutcome) => {
    if (job.done) return
    job.done = true
    clearTimeout(job.timer)
    if (job.ownCost === 'evm') calls--
    const { queue } = job
    if (queue === undefined) return job.resolve(outcome)
    if ('error' in outcome) return queue.fail(outcome.error)
    queue.push(outcome.result)
    queue.end()
  }
  const takePart = (job: PoolJob, part: Uint8Array, flow: JobFlow) => {
    if (job.done) return flow.abandon()
    if (job.queue !== undefined) return job.queue.push(part)
    job.queue = createResultQueue(flow.release, flow.abandon)
    flow.release(part.length)
    job.resolve({ result: part, rest: job.queue.stream })
  }

  const refillAfter = (thread: Thread) => {
    population.settle(thread)
    if (thread.cost !== undefined) scheduler.refill(thread)
    else scheduler.refillAll() // a lent thread: its client may have its turn elsewhere again
  }
  const schedule = (job: PoolJob) => {
    population.use(job.cost)
    scheduler.enqueue(job)
    if (scheduler.waiting(job.cost) > MAX_QUEUED) finish(scheduler.takeFromGreediest(job.cost)!, { error: SERVER_BUSY })
  }
  /** Tries a request again in the quick queue, if it should be, else enqueues it after the others of its class. */
  const tryAgain = (job: PoolJob) => {
    job.tryMs = job.isRetry || job.ownCost === 'evm' ? undefined : quickPolicy.grantAgain(job.key!)
    job.isRetry = true
    if (job.tryMs === undefined) job.cost = job.ownCost
    schedule(job)
  }
  /** Returns the milliseconds to try a request in the quick queue, if it should be and that queue is not full. */
  const quickTime = (cost: RemoteCost, key: string | undefined) => {
    return cost === 'scan' && key !== undefined && hasQuickRoom() ? quickPolicy.grant(key) : undefined
  }
  const hasQuickRoom = () => {
    if (scheduler.waiting('quick') >= MAX_QUICK_WAITING) return false
    for (const thread of threads) if (thread.cost === 'quick' && thread.reader.ready) return true
    return false
  }
  const noteTry = (job: PoolJob, finished: boolean) => {
    if (job.ownCost === 'evm') quickCalls.note(job.client, finished)
    else if (job.key !== undefined) quickPolicy.note(job.key, finished)
  }

  const start = (cost: RemoteCost | undefined, isAwaited: boolean) => {
    const data = {
      datadir: options.datadir,
      limits: options.limits,
      compatibility: options.compatibility,
      logging: options.logging,
      methodsModule: options.methodsModule,
      evm: options.evm,
      cursorSecret: options.cursorSecret,
      loadEvm: cost !== 'scan',
      warmLogs: cost !== 'evm',
      awaited: isAwaited,
      niceness: cost === 'quick' ? QUICK_NICENESS : READER_NICENESS,
    }
    const maxJobs = cost === undefined ? Math.max(...Object.values(MAX_JOBS)) : MAX_JOBS[cost]
    const reader = startReaderThread<PoolJob>(data, maxJobs, {
      onReady() {
        population.fill()
        population.settle(thread)
        scheduler.refill(thread)
      },
      onOutcome(job, outcome) {
        if (job.tryMs !== undefined) noteTry(job, true)
        finish(job, outcome)
        refillAfter(thread)
      },
      onUnfinished(job) {
        noteTry(job, false)
        if (!job.done) tryAgain(job)
        refillAfter(thread)
      },
      onPart: takePart,
      onError: (error) => log.error({ error: describeError(error) }, 'a reader thread failed'),
      onExit: () => remove(thread),
    })
    const thread: Thread = { reader, cost }
    threads.add(thread)
  }

  /** Called when a thread is gone or will be terminated: started requests are answered with an error; the spare
   *  takes its place and the other requests. */
  const remove = (thread: Thread) => {
    if (!threads.delete(thread)) return
    const { waiting, begun } = thread.reader.withdrawAll()
    for (const job of begun) finish(job, { error: INTERNAL })
    if (closed) {
      for (const job of waiting) finish(job, { error: INTERNAL })
      return
    }
    lost++
    // Another thread for the quick queue takes half a second to start.
    for (const job of waiting) if (job.cost === 'quick') Object.assign(job, { cost: job.ownCost, tryMs: undefined })
    scheduler.putBack(waiting)
    population.replace(thread)
    scheduler.refillAll()
  }

  /** Enforces the queue timeout and the time limit of a request. */
  const enforceLimits = (job: PoolJob, inMs: number) => {
    job.timer = setTimeout(() => {
      const holder = holderOf(job)
      const begunMs = holder?.reader.begunMs(job)
      const now = performance.now()
      const left =
        begunMs === undefined ? job.queuedMs + queueTimeoutMs - now : begunMs + job.runMs + GRACE_MS[job.cost] - now
      if (left > 0) enforceLimits(job, Math.ceil(left))
      else if (begunMs !== undefined) expire(job, holder!)
      else if (scheduler.withdraw(job)) finish(job, { error: waitedTooLong(queueTimeoutMs) })
      else enforceLimits(job, job.runMs) // it was just started
    }, inMs)
  }
  const holderOf = (job: PoolJob) => [...threads].find(({ reader }) => reader.has(job))

  const expire = (job: PoolJob, holder: Thread) => {
    giveUp(job, holder, timeoutError(job.ownCost, job.limitMs, job.call.method))
  }
  /** Answers a started request with an error. Its thread is replaced unless it stops. */
  const giveUp = (job: PoolJob, holder: Thread, error: RpcErrorBody) => {
    finish(job, { error })
    holder.reader.abort(job)
    const end = () => {
      // It may have answered since, and started another one.
      if (!holder.reader.has(job) || !threads.has(holder)) return
      log.warn(
        { method: job.call.method.name, limitMs: job.limitMs },
        'a request ran past its time; its thread is replaced',
      )
      remove(holder)
      void holder.reader.end()
    }
    const hadTime = performance.now() - (holder.reader.begunMs(job) ?? 0) >= job.runMs
    if (job.cost !== 'evm' && hadTime) return end()
    if (job.cost === 'evm') scheduler.exchangeForSpare(holder)
    setTimeout(end, LINGER_MS).unref()
  }

  registerPoolMetrics(options.metrics, { threads, scheduler, lost: () => lost })
  population.fill()
  return {
    run(call, { client = NO_CLIENT, sinceMs, costKey } = {}) {
      const own = call.method.cost === 'evm' ? 'evm' : 'scan'
      const key = own === 'scan' ? (costKey ?? call.method.costKey?.(call.values)) : undefined
      const tryMs = quickTime(own, key)
      const cost = tryMs === undefined ? own : 'quick'
      if (closed) return Promise.resolve({ error: INTERNAL })
      const queuedMs = performance.now()
      const limit = call.method.isTrace ? options.limits.traceTimeoutMs : limitMs[cost]
      const runMs = limit - (sinceMs === undefined ? 0 : queuedMs - sinceMs)
      if (runMs <= 0) return Promise.resolve({ error: timeoutError(cost, limit, call.method) })
      return new Promise((resolve) => {
        const job: PoolJob = {
          ...{ cost, ownCost: own, client, call, queuedMs, runMs, limitMs: limit, resolve },
          key,
          tryMs,
          assignedMs: 0,
          done: false,
        }
        if (own === 'evm') calls++
        enforceLimits(job, Math.min(queueTimeoutMs, runMs + GRACE_MS[cost]))
        schedule(job)
      })
    },
    warm: () => population.warm(),
    ready: () => population.ready(),
    clients: () => scheduler.clients(),
    abort(client, error) {
      for (const job of scheduler.withdrawClient(client)) finish(job, { error })
      for (const thread of [...threads]) {
        for (const job of [...thread.reader.jobs()]) if (job.client === client && !job.done) giveUp(job, thread, error)
      }
      scheduler.refillAll()
    },
    pendingCalls: () => calls,
    threadCount: () => threads.size,
    lostThreads: () => lost,
    async close() {
      closed = true
      const ended = population.close()
      scheduler.stop()
      for (const job of scheduler.drain()) finish(job, { error: INTERNAL })
      const living = [...threads]
      for (const thread of living) remove(thread)
      await Promise.all([ended, ...living.map(({ reader }) => reader.end())])
    },
  }
}

function timeoutError(cost: RemoteCost, limitMs: number, method: Method): RpcErrorBody {
  return cost === 'evm' ? callTimeoutError(limitMs, method) : QUERY_TIMEOUT_ERROR
}

function waitedTooLong(limitMs: number): RpcErrorBody {
  return { code: LIMIT_EXCEEDED, message: `server busy: no thread took the request within ${limitMs / 1000}s` }
}
