import { setTimeout as sleep } from 'node:timers/promises'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { CairnError, describeError, UsageError } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'

/* The one lifecycle of a thread: start, messages, failure, end; and restart, for a thread that writes the chain. */

interface ThreadOptions<Reply> {
  /** Start data of the thread, its `workerData`. */
  readonly data?: unknown
  readonly resourceLimits?: ResourceLimits
  /** When the thread keeps the process alive. `busy`: while a request has no reply, each getting one. Default: always,
   *  until it exits. A thread that is asked to end always does: otherwise the process would exit before its end is
   *  noticed. */
  readonly keepsAlive?: 'always' | 'busy' | 'never'
  onMessage(reply: Reply): void
  /** Called once: with the error that the thread threw, maybe before its last messages, or when it exited. */
  onEnd?(error?: unknown): void
}

/** A running thread, seen from the thread that started it. */
export class Thread<Request, Reply> {
  /** Resolves when the thread has exited, after its last message: with the error that it threw, if any. */
  readonly exited: Promise<unknown>
  readonly #worker: Worker
  readonly #isUnrefIdle: boolean
  #unanswered = 0
  #isEnding = false

  /** Starts the thread whose entry point is at `url`. */
  constructor(url: URL, { data, resourceLimits, keepsAlive = 'always', onMessage, onEnd }: ThreadOptions<Reply>) {
    const worker = new Worker(url, { workerData: data, resourceLimits })
    this.#worker = worker
    this.#isUnrefIdle = keepsAlive === 'busy'
    if (keepsAlive !== 'always') worker.unref()
    let error: unknown
    let isOver = false
    const end = () => {
      if (!isOver) onEnd?.(error)
      isOver = true
    }
    worker.on('message', (reply: Reply) => {
      if (--this.#unanswered === 0 && this.#isUnrefIdle && !this.#isEnding) worker.unref()
      onMessage(reply)
    })
    worker.on('error', (thrown) => {
      error = thrown
      end()
    })
    this.exited = new Promise((resolve) => {
      worker.once('exit', () => {
        end()
        resolve(error)
      })
    })
  }

  /** @throws DataCloneError if the request cannot be cloned, for example because it is nested too deep */
  post(request: Request, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer)
    this.#unanswered++
    if (this.#isUnrefIdle) this.#worker.ref()
  }

  /** Posts the request after which the thread exits by itself, and terminates it if it has not after `graceMs`, by
   *  default never. Resolves with which of both happened when it has exited. */
  async end(last: Request, graceMs?: number): Promise<'ended' | 'terminated'> {
    this.#keepAlive()
    this.post(last)
    if (graceMs === undefined) return this.exited.then(() => 'ended')
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(this.terminate()), graceMs)
      void this.exited.then(() => {
        clearTimeout(timer)
        resolve('ended')
      })
    })
  }

  /** Ends the thread wherever it is. Resolves when it has exited. */
  async terminate(): Promise<'terminated'> {
    this.#keepAlive()
    await this.#worker.terminate()
    return 'terminated'
  }

  #keepAlive(): void {
    this.#isEnding = true
    this.#worker.ref()
  }
}

/** Messages of every thread that writes: once whether it could start; `over` when it ended for good. */
export type WriterReply =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly message: string; readonly isUsage: boolean }
  | { readonly kind: 'over' }

/** A message to a thread that writes: `stop` ends it after the current transaction; others are for its work. */
export type WriterRequest<Request = never> = 'stop' | Request

/** A thread that writes the chain, replaced when it dies. */
interface WriterHandle<Request> {
  /** Resolves when the thread reported that its work is over, or was closed. */
  readonly ended: Promise<void>
  /** Sends a message to the work of the running thread; it is lost while the thread restarts. */
  post(request: Request): void
  /** Ends the thread when it has finished its current work. */
  close(): Promise<void>
}

interface WriterOptions<Reply> {
  /** URL of the thread's entry point, which calls `runWriter`. */
  readonly url: URL
  readonly data: unknown
  /** What the thread does, for the log. */
  readonly does: string
  readonly log: Logger
  /** Aborts a start that takes long: it is then rejected. */
  readonly signal?: AbortSignal
  onReply(reply: Exclude<Reply, WriterReply>): void
  /** Called when the thread died and another one will be started. */
  onFailure(problem: string): void
}

/** Young generation of a thread that writes. A block's objects die with it: with the default of 48 many outlive two
 *  collections first, which cost a tenth more time per block. */
export const YOUNG_GENERATION_MB = 192

// Delay before a thread that ended by itself is restarted, doubled each time it ends soon.
const FIRST_RESTART_MS = 1000
const MAX_RESTART_MS = 20_000

/** Starts a thread that writes the chain. Resolves when it has opened its resources.
 *  @throws UsageError, CairnError when it refused */
export async function spawnWriter<Reply extends { readonly kind: string }, Request extends object = never>(
  options: WriterOptions<Reply>,
): Promise<WriterHandle<Request>> {
  const { does, log, signal, onFailure } = options
  let writer = launchWriter<Reply, Request>(options)
  const giveUp = () => writer.thread.post('stop')
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted) giveUp()
  try {
    await writer.opened
  } catch (error) {
    await writer.ended // it may have the database open
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
  const stopped = new AbortController()
  const keepAlive = async () => {
    for (let restartMs = FIRST_RESTART_MS; ; restartMs = Math.min(2 * restartMs, MAX_RESTART_MS)) {
      const beganMs = performance.now()
      const { isOver, problem } = await writer.ended
      if (isOver || stopped.signal.aborted) return
      onFailure(problem)
      if (performance.now() - beganMs > MAX_RESTART_MS) restartMs = FIRST_RESTART_MS
      log.error({ error: problem, restartInMs: restartMs }, `the thread that ${does} ended`)
      await sleep(restartMs, undefined, { signal: stopped.signal }).catch(() => {})
      if (stopped.signal.aborted) return
      writer = launchWriter<Reply, Request>(options)
      writer.opened.catch(() => {}) // reported by `ended`
    }
  }
  const ended = keepAlive()
  return {
    ended,
    post: (request) => writer.thread.post(request),
    close: async () => {
      stopped.abort()
      writer.thread.post('stop')
      await ended
    },
  }
}

function launchWriter<Reply extends { readonly kind: string }, Request>({ url, data, onReply }: WriterOptions<Reply>) {
  let isOver = false
  let problem = 'the thread ended'
  let settle: { resolve(): void; reject(error: unknown): void }
  const opened = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  const thread = new Thread<WriterRequest<Request>, Reply | WriterReply>(url, {
    data,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    onMessage: (reply) => {
      if (reply.kind === 'opened') settle.resolve()
      else if (reply.kind === 'over') isOver = true
      else if (isRefusal(reply)) {
        problem = reply.message
        settle.reject(reply.isUsage ? new UsageError(reply.message) : new CairnError(reply.message))
      } else onReply(reply as Exclude<Reply, WriterReply>)
    },
    onEnd: (error) => {
      if (error !== undefined) problem = describeError(error)
      settle.reject(error ?? new CairnError(problem))
    },
  })
  return { thread, opened, ended: thread.exited.then(() => ({ isOver, problem })) }
}

function isRefusal(reply: { kind: string }): reply is Extract<WriterReply, { kind: 'refused' }> {
  return reply.kind === 'refused'
}
