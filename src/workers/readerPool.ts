import { availableParallelism } from 'node:os'
import type { Logger } from '../lib/logger.js'
import { type RemoteRunner, timeoutError } from '../rpc/dispatch.js'
import type { RpcOutcome } from '../rpc/envelope.js'
import { INTERNAL_ERROR, LIMIT_EXCEEDED, type RpcErrorBody } from '../rpc/errors.js'
import type { ReaderData } from './protocol.js'
import { type Job, type ReaderThread, startReaderThread } from './readerThread.js'

type RemoteCost = Parameters<RemoteRunner['run']>[0]

/** Requests of one class that may wait. More would only wait to be refused at their deadline; 1,000 are a full batch. */
const MAX_QUEUED = 1024

/** Requests that a thread is handed at a time. Small calls take less time than to tell the main thread that one is done and
 *  to get the next, so a thread has some of them waiting; what waits behind a long one is given to another thread as soon
 *  as one has nothing to do. */
const MAX_JOBS: Record<RemoteCost, number> = { evm: 16, scan: 1 }

/** Past its deadline a request is answered for its thread if that does not say it itself, as all do that look at the
 *  clock. */
const GRACE_MS: Record<RemoteCost, number> = { evm: 20, scan: 500 }

/** So long after its request was answered for it, a thread that runs calls may go on before it is ended: our interpreter
 *  looks at the clock, but not within a precompile. The reference interpreter never does. */
const LINGER_MS = 480

/** After a thread died before it was ready, the next one waits this long, so that a broken installation does not spin. */
const RESPAWN_DELAY_MS = 1000

/** How many threads a class gets unless told: half of the cores, at least two, so that one long query never makes the
 *  others wait; at most eight, since each holds 40 to 80 MB. */
export function defaultThreads(): number {
  return Math.max(2, Math.min(8, Math.floor(availableParallelism() / 2)))
}

/** Options of a pool. */
export interface ReaderPoolOptions extends Omit<ReaderData, 'loadEvm' | 'warmLogs' | 'claims'> {
  readonly scanThreads: number
  readonly evmThreads: number
  readonly log: Logger
}

/** Reader threads. */
export interface ReaderPool extends RemoteRunner {
  /** Resolves once every thread and the spare are ready. */
  ready(): Promise<void>
  /** Calls that the threads were handed and have not answered, and those that wait for a thread. */
  callsUnderWay(): number
  /** Threads that live, the spare among them. */
  threadCount(): number
  /** Threads that were ended since the start because a request did not stop, or that ended by themselves. */
  lostThreads(): number
  /** Ends all threads; requests under way and waiting are answered `internal error`. */
  close(): Promise<void>
}

interface PoolJob extends Job {
  readonly cost: RemoteCost
  readonly resolve: (outcome: RpcOutcome) => void
  timer?: NodeJS.Timeout
  done: boolean
}

interface Thread {
  readonly reader: ReaderThread<PoolJob>
  /** Which requests it takes; undefined for the spare. */
  cost: RemoteCost | undefined
}

const SERVER_BUSY: RpcErrorBody = { code: LIMIT_EXCEEDED, message: 'server busy' }
const INTERNAL: RpcErrorBody = { code: INTERNAL_ERROR, message: 'internal error' }

/** Starts the threads of each class and a warm spare, which takes the place of a thread that had to be ended: ending
 *  one takes 4 to 7 ms, a new one needs 360 to 630 ms. A request goes to the thread of its class that has the least to do,
 *  and waits in the queue of the class while all are full. */
export function createReaderPool(options: ReaderPoolOptions): ReaderPool {
  const { log } = options
  const limitMs: Record<RemoteCost, number> = { scan: options.limits.logsTimeoutMs, evm: options.limits.callTimeoutMs }
  const wanted: Record<RemoteCost, number> = { scan: options.scanThreads, evm: options.evmThreads }
  const queues: Record<RemoteCost, PoolJob[]> = { scan: [], evm: [] }
  const threads = new Set<Thread>()
  const waiters: (() => void)[] = []
  const respawns = new Set<NodeJS.Timeout>()
  let lost = 0
  let closed = false
  let calls = 0

  const finish = (job: PoolJob, outcome: RpcOutcome) => {
    if (job.done) return
    job.done = true
    clearTimeout(job.timer)
    if (job.cost === 'evm') calls--
    job.resolve(outcome)
  }

  /** Starts what is missing: threads first, then the spare. */
  const fill = () => {
    if (closed) return
    for (const cost of ['evm', 'scan'] as const) {
      let missing = wanted[cost] - count(threads, cost)
      for (const thread of threads) {
        if (missing === 0) break
        if (!isIdleSpare(thread)) continue
        thread.cost = cost
        missing--
        feed(thread)
      }
      for (; missing > 0; missing--) start(cost)
    }
    if (![...threads].every(({ reader }) => reader.ready)) return
    if (count(threads, undefined) === 0) start(undefined)
    else for (const resolve of waiters.splice(0)) resolve()
  }

  const start = (cost: RemoteCost | undefined) => {
    const data = {
      datadir: options.datadir,
      limits: options.limits,
      logLevel: options.logLevel,
      methodsModule: options.methodsModule,
      evm: options.evm,
      loadEvm: cost !== 'scan',
      warmLogs: cost !== 'evm',
    }
    const maxJobs = cost === undefined ? Math.max(...Object.values(MAX_JOBS)) : MAX_JOBS[cost]
    const reader = startReaderThread<PoolJob>(data, maxJobs, {
      onReady() {
        fill()
        feed(thread)
      },
      onOutcome(job, outcome) {
        finish(job, outcome)
        feed(thread)
      },
      onError: (error) => log.error({ error: error.stack ?? String(error) }, 'a reader thread failed'),
      onExit: () => remove(thread),
    })
    const thread: Thread = { reader, cost }
    threads.add(thread)
  }

  const isFree = ({ reader, cost }: Thread) => reader.ready && cost !== undefined && reader.jobCount() < MAX_JOBS[cost]

  /** Hands a request to a thread; false when it has no room. Then it is fed once it has some. */
  const hand = (thread: Thread, job: PoolJob): boolean => {
    try {
      if (thread.reader.hand(job)) return true
      // It is still passing over requests that were taken back. No outcome comes of these.
      if (thread.reader.jobCount() === 0) setImmediate(() => feed(thread))
      return false
    } catch (error) {
      log.warn({ method: job.method, error: String(error) }, 'could not hand a request to a thread')
      finish(job, { error: INTERNAL })
      return true
    }
  }

  /** Gives a request to the thread that has the least to do, or puts it into the queue. */
  const place = (job: PoolJob) => {
    const queue = queues[job.cost]
    let best: Thread | undefined
    if (queue.length === 0) {
      for (const thread of threads) {
        if (thread.cost !== job.cost || !isFree(thread)) continue
        if (best === undefined || thread.reader.jobCount() < best.reader.jobCount()) best = thread
      }
    }
    if (best === undefined || !hand(best, job)) queue.push(job)
  }

  /** Gives a thread what is in the queue, or else, when it has nothing to do, half of what waits behind others. */
  const feed = (thread: Thread) => {
    if (!threads.has(thread) || thread.cost === undefined) return
    const queue = queues[thread.cost]
    while (queue.length > 0 && isFree(thread)) {
      if (queue[0].done || hand(thread, queue[0])) queue.shift()
      else return
    }
    if (queue.length > 0 || thread.reader.jobCount() > 0 || !isFree(thread)) return
    const busiest = [...threads]
      .filter(({ cost }) => cost === thread.cost)
      .reduce((most, other) => (other.reader.jobCount() > most.reader.jobCount() ? other : most), thread)
    for (let take = busiest.reader.jobCount() >> 1; take > 0; take--) {
      const job = busiest.reader.withdrawLast()
      if (job === undefined) return
      if (!hand(thread, job)) place(job)
    }
  }

  /** A thread is gone or to be ended: what it has begun is answered, and the spare takes its place and the rest. */
  const remove = (thread: Thread) => {
    if (!threads.delete(thread)) return
    const { waiting, begun } = thread.reader.withdrawAll()
    for (const job of begun) finish(job, { error: INTERNAL })
    if (closed) {
      for (const job of waiting) finish(job, { error: INTERNAL })
      return
    }
    lost++
    if (thread.cost !== undefined) queues[thread.cost].unshift(...waiting)
    if (thread.reader.ready) fill()
    else {
      const timer = setTimeout(() => {
        respawns.delete(timer)
        fill()
      }, RESPAWN_DELAY_MS)
      respawns.add(timer)
    }
    for (const other of threads) feed(other)
  }

  /** Has a thread change places with the spare: if it stops by itself, it is the next one. */
  const exchangeForSpare = (thread: Thread) => {
    const spare = [...threads].find((other) => isIdleSpare(other) && other.reader.ready)
    if (spare === undefined || thread.cost === undefined) return
    queues[thread.cost].unshift(...thread.reader.withdrawAll().waiting)
    spare.cost = thread.cost
    thread.cost = undefined
    feed(spare)
  }

  const expire = (job: PoolJob) => {
    finish(job, { error: timeoutError(job.cost, job.limitMs) })
    const holder = [...threads].find(({ reader }) => reader.has(job))
    if (holder === undefined) {
      const queue = queues[job.cost]
      if (queue.includes(job)) queue.splice(queue.indexOf(job), 1)
      return
    }
    if (holder.reader.withdraw(job)) return
    const end = () => {
      // It may have answered since, and have begun another one.
      if (!holder.reader.has(job) || !threads.has(holder)) return
      log.warn({ method: job.method, limitMs: job.limitMs }, 'a request ran past its time; its thread is replaced')
      remove(holder)
      void holder.reader.end()
    }
    if (job.cost !== 'evm' || options.evm !== 'cairn') return end()
    exchangeForSpare(holder)
    setTimeout(end, LINGER_MS).unref()
  }

  fill()
  return {
    run(cost, method, params, sinceMs = performance.now()) {
      if (closed) return Promise.resolve({ error: INTERNAL })
      const limit = limitMs[cost]
      const endMs = sinceMs + limit
      const remainingMs = endMs - performance.now()
      if (remainingMs <= 0) return Promise.resolve({ error: timeoutError(cost, limit) })
      if (queues[cost].length >= MAX_QUEUED) return Promise.resolve({ error: SERVER_BUSY })
      return new Promise((resolve) => {
        const job: PoolJob = { cost, method, params, endMs, limitMs: limit, resolve, done: false }
        if (cost === 'evm') calls++
        job.timer = setTimeout(() => expire(job), remainingMs + GRACE_MS[cost])
        place(job)
      })
    },
    ready: () =>
      new Promise((resolve) => {
        waiters.push(resolve)
        fill()
      }),
    callsUnderWay: () => calls,
    threadCount: () => threads.size,
    lostThreads: () => lost,
    async close() {
      closed = true
      for (const timer of respawns) clearTimeout(timer)
      for (const queue of Object.values(queues)) for (const job of queue.splice(0)) finish(job, { error: INTERNAL })
      const living = [...threads]
      for (const thread of living) remove(thread)
      for (const resolve of waiters.splice(0)) resolve()
      await Promise.all(living.map(({ reader }) => reader.end()))
    },
  }
}

function isIdleSpare({ cost, reader }: Thread): boolean {
  return cost === undefined && reader.jobCount() === 0
}

function count(threads: Iterable<Thread>, cost: RemoteCost | undefined): number {
  let n = 0
  for (const thread of threads) if (thread.cost === cost) n++
  return n
}
