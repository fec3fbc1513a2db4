import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { L2Verdict, L2VerifyFunction } from '../../chain/starknet/verify.js'
import { CairnError } from '../../lib/errors.js'
import type { L2VerifierReply, L2VerifierRequest } from './l2VerifierProtocol.js'

/** A thread ended, or failed unexpectedly. */
export class L2VerifierFailed extends CairnError {}

/** Threads that recompute block hashes. */
export interface L2Verifier {
  /** Rejects with L2VerifierFailed. Blocks wait while all threads are busy. */
  verify: L2VerifyFunction
  /** Starts a thread ahead of the first block. */
  startThread(): void
  /** Ends the threads; running work is dropped. */
  close(): Promise<void>
}

interface Job {
  request: L2VerifierRequest
  resolve(verdict: L2Verdict): void
  reject(error: Error): void
}

/** Starts threads on demand, at most `threads`: by default one fewer than the cores, at most four. */
export function createL2Verifier({ threads = defaultThreads() }: { threads?: number } = {}): L2Verifier {
  const idle: Worker[] = []
  const busy = new Map<Worker, Job>()
  const waiting: Job[] = []
  let closed = false

  const start = (): Worker => {
    const worker = new Worker(new URL('./l2VerifierThread.js', import.meta.url))
    worker.on('message', (reply: L2VerifierReply) => {
      const job = busy.get(worker)!
      busy.delete(worker)
      idle.push(worker)
      if ('verdict' in reply) job.resolve(reply.verdict)
      else job.reject(new L2VerifierFailed(reply.failure))
      assign()
    })
    worker.on('error', (error) => drop(worker, error))
    worker.on('exit', () => drop(worker))
    worker.unref() // an idle thread does not keep the process alive
    return worker
  }
  const drop = (worker: Worker, cause?: unknown) => {
    const job = busy.get(worker)
    busy.delete(worker)
    const position = idle.indexOf(worker)
    if (position >= 0) idle.splice(position, 1)
    job?.reject(new L2VerifierFailed('the thread that verifies layer-2 blocks ended', { cause }))
    if (!closed) assign()
  }
  const assign = () => {
    while (waiting.length > 0) {
      const worker = idle.pop() ?? (busy.size < threads ? start() : undefined)
      if (worker === undefined) return
      const job = waiting.shift()!
      busy.set(worker, job)
      worker.ref()
      worker.postMessage(job.request)
    }
    for (const worker of idle) worker.unref()
  }

  return {
    startThread: () => {
      if (idle.length + busy.size === 0) idle.push(start())
    },
    verify: (block, network) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new L2VerifierFailed('the verifier of layer-2 blocks is closed'))
        waiting.push({ request: { block, network }, resolve, reject })
        assign()
      }),
    close: async () => {
      closed = true
      const workers = [...idle, ...busy.keys()]
      for (const job of waiting.splice(0)) job.reject(new L2VerifierFailed('the verifier of layer-2 blocks is closed'))
      await Promise.all(
        workers.map((worker) => {
          worker.ref() // otherwise the process would exit before the end of the thread is noticed
          return worker.terminate()
        }),
      )
    },
  }
}

function defaultThreads(): number {
  return Math.max(1, Math.min(4, availableParallelism() - 1))
}
