import { setTimeout as sleep } from 'node:timers/promises'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { CairnError, describeError, UsageError } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'

/** Messages of every kept thread: once whether it could start; `over` when it ended for good. */
export type KeptThreadReply =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly message: string; readonly isUsage: boolean }
  | { readonly kind: 'over' }

/** A thread that is replaced when it dies. */
export interface KeptThread<Request> {
  post(request: Request): void
  /** Resolves when the thread reported that its work is over, or was closed. */
  readonly ended: Promise<void>
  /** Ends the thread when it has finished its current work. */
  close(): Promise<void>
}

interface KeptThreadOptions<Reply> {
  /** URL of the thread's entry point. */
  readonly url: URL
  readonly options: WorkerOptions
  /** What the thread does, for the log. */
  readonly does: string
  readonly log: Logger
  /** Aborts a start that takes long: it is then rejected. */
  readonly signal?: AbortSignal
  onReply(reply: Exclude<Reply, KeptThreadReply>): void
  /** Called when the thread died and another one will be started. */
  onFailure(problem: string): void
}

// Delay before a thread that ended by itself is restarted, doubled each time it ends soon.
const FIRST_RESTART_MS = 1000
const MAX_RESTART_MS = 20_000

/** Starts the thread, which exits by itself after the message 'stop'. Resolves when it has opened its resources.
 *  @throws UsageError, CairnError when it refused */
export async function keepThread<Request, Reply extends { readonly kind: string }>(
  options: KeptThreadOptions<Reply>,
): Promise<KeptThread<Request | 'stop'>> {
  const { does, log, signal, onFailure } = options
  const launch = () => launchThread<Request, Reply>(options)
  let thread = launch()
  const giveUp = () => thread.post('stop')
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted) giveUp()
  try {
    await thread.opened
  } catch (error) {
    await thread.ended // it may have the database open
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
  const stopped = new AbortController()
  /** Ends when the thread is closed, or reports that its work is over. */
  const keepAlive = async () => {
    for (let restartMs = FIRST_RESTART_MS; ; restartMs = Math.min(2 * restartMs, MAX_RESTART_MS)) {
      const beganMs = performance.now()
      const { isOver, problem } = await thread.ended
      if (isOver || stopped.signal.aborted) return
      onFailure(problem)
      if (performance.now() - beganMs > MAX_RESTART_MS) restartMs = FIRST_RESTART_MS
      log.error({ error: problem, restartInMs: restartMs }, `the thread that ${does} ended`)
      await sleep(restartMs, undefined, { signal: stopped.signal }).catch(() => {})
      if (stopped.signal.aborted) return
      thread = launch()
      thread.opened.catch(() => {}) // reported by `ended`
    }
  }
  const kept = keepAlive()
  return {
    post: (request) => thread.post(request),
    ended: kept,
    close: async () => {
      stopped.abort()
      thread.post('stop')
      await kept
    },
  }
}

function launchThread<Request, Reply extends { readonly kind: string }>({
  url,
  options,
  onReply,
}: KeptThreadOptions<Reply>) {
  const worker = new Worker(url, options)
  let isOver = false
  let problem = 'the thread ended'
  const opened = new Promise<void>((resolve, reject) => {
    worker.on('message', (reply: Reply | KeptThreadReply) => {
      if (reply.kind === 'opened') resolve()
      else if (reply.kind === 'over') isOver = true
      else if (isRefusal(reply)) {
        problem = reply.message
        reject(reply.isUsage ? new UsageError(reply.message) : new CairnError(reply.message))
      } else onReply(reply as Exclude<Reply, KeptThreadReply>)
    })
    worker.on('error', (error) => {
      problem = describeError(error)
      reject(error)
    })
    worker.once('exit', () => reject(new CairnError(problem)))
  })
  const ended = new Promise<{ isOver: boolean; problem: string }>((resolve) => {
    worker.once('exit', () => resolve({ isOver, problem }))
  })
  return { opened, ended, post: (request: Request | 'stop') => worker.postMessage(request) }
}

function isRefusal(reply: { kind: string }): reply is Extract<KeptThreadReply, { kind: 'refused' }> {
  return reply.kind === 'refused'
}
