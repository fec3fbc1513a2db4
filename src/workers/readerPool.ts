import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Logger } from '../lib/logger.js'
import { type RemoteRunner, timeoutError } from '../rpc/dispatch.js'
import type { RpcOutcome } from '../rpc/envelope.js'
import { INTERNAL_ERROR, LIMIT_EXCEEDED, type RpcErrorBody } from '../rpc/errors.js'
import type { ReaderData, ReaderMessage, ReaderRequest } from './protocol.js'

type RemoteCost = Parameters<RemoteRunner['run']>[0]

/** Requests of one class that may wait. More would only wait to be refused at their deadline; 1,000 are a full batch. */
const MAX_QUEUED = 1024

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
export interface ReaderPoolOptions extends Omit<ReaderData, 'loadEvm' | 'warmLogs'> {
  readonly scanThreads: number
  readonly evmThreads: number
  readonly log: Logger
}

/** Reader threads. */
export interface ReaderPool extends RemoteRunner {
  /** Resolves once every thread and the spare are ready. */
  ready(): Promise<void>
  /** Threads that live, the spare among them. */
  threadCount(): number
  /** Ends all threads; requests under way and waiting are answered `internal error`. */
  close(): Promise<void>
}

interface Job {
  readonly cost: RemoteCost
  readonly request: ReaderRequest
  readonly endMs: number
  readonly resolve: (outcome: RpcOutcome) => void
  timer?: NodeJS.Timeout
  done: boolean
}

interface Thread {
  readonly worker: Worker
  /** Which requests it takes; undefined for the spare. */
  cost: RemoteCost | undefined
  ready: boolean
  job: Job | undefined
}

const SERVER_BUSY: RpcErrorBody = { code: LIMIT_EXCEEDED, message: 'server busy' }
const INTERNAL: RpcErrorBody = { code: INTERNAL_ERROR, message: 'internal error' }

/** Starts the threads of each class and a warm spare, which takes the place of a thread that had to be ended: ending
 *  one takes 4 to 7 ms, a new one needs 360 to 630 ms. Each class has one queue that its idle threads take from. */
export function createReaderPool(options: ReaderPoolOptions): ReaderPool {
  const { log } = options
  const limitMs: Record<RemoteCost, number> = { scan: options.limits.logsTimeoutMs, evm: options.limits.callTimeoutMs }
  const wanted: Record<RemoteCost, number> = { scan: options.scanThreads, evm: options.evmThreads }
  const queues: Record<RemoteCost, Job[]> = { scan: [], evm: [] }
  const threads = new Set<Thread>()
  const waiters: (() => void)[] = []
  const respawns = new Set<NodeJS.Timeout>()
  let closed = false

  const finish = (job: Job, outcome: RpcOutcome) => {
    if (job.done) return
    job.done = true
    clearTimeout(job.timer)
    job.resolve(outcome)
  }

  /** Starts what is missing: threads first, then the spare. */
  const fill = () => {
    if (closed) return
    for (const cost of ['evm', 'scan'] as const) {
      let missing = wanted[cost] - count(threads, cost)
      for (const thread of threads) {
        if (missing === 0) break
        if (thread.cost !== undefined) continue
        thread.cost = cost
        missing--
        if (thread.ready) assign(thread)
      }
      for (; missing > 0; missing--) start(cost)
    }
    if (count(threads, undefined) === 0 && [...threads].every((thread) => thread.ready)) start(undefined)
    else if (count(threads, undefined) > 0 && [...threads].every((thread) => thread.ready)) {
      for (const resolve of waiters.splice(0)) resolve()
    }
  }

  const start = (cost: RemoteCost | undefined) => {
    const workerData: ReaderData = {
      datadir: options.datadir,
      limits: options.limits,
      logLevel: options.logLevel,
      methodsModule: options.methodsModule,
      evm: options.evm,
      loadEvm: cost !== 'scan',
      warmLogs: cost !== 'evm',
    }
    const worker = new Worker(new URL('./reader.js', import.meta.url), { workerData })
    const thread: Thread = { worker, cost, ready: false, job: undefined }
    threads.add(thread)
    worker.on('message', (message: ReaderMessage) => receive(thread, message))
    worker.on('error', (error) => log.error({ error: error.stack ?? String(error) }, 'a reader thread failed'))
    worker.on('exit', () => remove(thread))
  }

  const receive = (thread: Thread, message: ReaderMessage) => {
    if (message.kind === 'ready') {
      thread.ready = true
      fill()
    } else if (thread.job !== undefined) {
      const { job } = thread
      thread.job = undefined
      finish(job, message.kind === 'error' ? { error: message.error } : { result: new Uint8Array(message.result) })
    }
    assign(thread)
  }

  /** Gives an idle thread the next request of its class. */
  const assign = (thread: Thread) => {
    if (!thread.ready || thread.job !== undefined || thread.cost === undefined || !threads.has(thread)) return
    for (;;) {
      const job = queues[thread.cost].shift()
      if (job === undefined) return
      if (job.done) continue
      thread.job = job
      try {
        thread.worker.postMessage({
          ...job.request,
          remainingMs: job.endMs - performance.now(),
        } satisfies ReaderRequest)
        return
      } catch (error) {
        // Parameters nested too deep to be copied.
        log.warn({ method: job.request.method, error: String(error) }, 'could not hand a request to a thread')
        thread.job = undefined
        finish(job, { error: INTERNAL })
      }
    }
  }

  /** A thread is gone or to be ended: its request is answered, and the spare takes its place. */
  const remove = (thread: Thread) => {
    if (!threads.delete(thread)) return
    if (thread.job !== undefined) finish(thread.job, { error: INTERNAL })
    if (closed) return
    if (thread.ready) fill()
    else {
      const timer = setTimeout(() => {
        respawns.delete(timer)
        fill()
      }, RESPAWN_DELAY_MS)
      respawns.add(timer)
    }
  }

  const expire = (job: Job) => {
    const limit = limitMs[job.cost]
    const stuck = [...threads].find((thread) => thread.job === job)
    finish(job, { error: timeoutError(job.cost, limit) })
    if (stuck === undefined) {
      queues[job.cost].splice(queues[job.cost].indexOf(job), 1)
      return
    }
    const end = () => {
      if (stuck.job !== job || !threads.has(stuck)) return
      log.warn({ method: job.request.method, limitMs: limit }, 'a request ran past its time; its thread is replaced')
      remove(stuck)
      void stuck.worker.terminate()
    }
    if (job.cost === 'evm' && options.evm === 'cairn') setTimeout(end, LINGER_MS).unref()
    else end()
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
        const request = { method, params, remainingMs, limitMs: limit }
        const job: Job = { cost, request, endMs, resolve, done: false }
        job.timer = setTimeout(() => expire(job), remainingMs + GRACE_MS[cost])
        queues[cost].push(job)
        for (const thread of threads) if (thread.cost === cost && thread.job === undefined) assign(thread)
      })
    },
    ready: () =>
      new Promise((resolve) => {
        waiters.push(resolve)
        fill()
      }),
    threadCount: () => threads.size,
    async close() {
      closed = true
      for (const timer of respawns) clearTimeout(timer)
      for (const queue of Object.values(queues)) for (const job of queue.splice(0)) finish(job, { error: INTERNAL })
      const living = [...threads]
      for (const thread of living) remove(thread)
      for (const resolve of waiters.splice(0)) resolve()
      await Promise.all(living.map((thread) => thread.worker.terminate()))
    },
  }
}

function count(threads: Iterable<Thread>, cost: RemoteCost | undefined): number {
  let n = 0
  for (const thread of threads) if (thread.cost === cost) n++
  return n
}
