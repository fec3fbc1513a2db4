import { availableParallelism } from 'node:os'
import type { L2NetworkName } from '../../chain/starknet/networks.js'
import type { L2Block } from '../../chain/starknet/types.js'
import type { L2Verdict, L2VerifyFunction } from '../../chain/starknet/verify.js'
import { CairnError } from '../../lib/errors.js'
import { Thread } from '../../workers/spawn.js'

/** A request to the thread: plain data, one block at a time. */
export interface L2VerifierRequest {
  block: L2Block
  network?: L2NetworkName
}

/** Its reply. */
export type L2VerifierReply = { verdict: L2Verdict } | { failure: string }

/** A thread ended, or failed unexpectedly. */
export class L2VerifierFailed extends CairnError {}

/** Threads that recompute block hashes. */
interface L2Verifier {
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

type VerifierThread = Thread<L2VerifierRequest, L2VerifierReply>

/** Starts threads on demand, at most `threads`: by default one fewer than the cores, at most four. */
export function createL2Verifier({ threads = defaultThreads() }: { threads?: number } = {}): L2Verifier {
  const idle: VerifierThread[] = []
  const busy = new Map<VerifierThread, Job>()
  const waiting: Job[] = []
  let closed = false

  const start = () => {
    const thread: VerifierThread = new Thread(new URL('./l2VerifierThread.js', import.meta.url), {
      keepsAlive: 'busy',
      onMessage: (reply) => {
        const job = busy.get(thread)!
        busy.delete(thread)
        idle.push(thread)
        if ('verdict' in reply) job.resolve(reply.verdict)
        else job.reject(new L2VerifierFailed(reply.failure))
        assign()
      },
      onEnd: (cause) => drop(thread, cause),
    })
    return thread
  }
  const drop = (thread: VerifierThread, cause?: unknown) => {
    const job = busy.get(thread)
    busy.delete(thread)
    const position = idle.indexOf(thread)
    if (position >= 0) idle.splice(position, 1)
    job?.reject(new L2VerifierFailed('the thread that verifies layer-2 blocks ended', { cause }))
    if (!closed) assign()
  }
  const assign = () => {
    while (waiting.length > 0) {
      const thread = idle.pop() ?? (busy.size < threads ? start() : undefined)
      if (thread === undefined) return
      const job = waiting.shift()!
      busy.set(thread, job)
      thread.post(job.request)
    }
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
      for (const job of waiting.splice(0)) job.reject(new L2VerifierFailed('the verifier of layer-2 blocks is closed'))
      await Promise.all([...idle, ...busy.keys()].map((thread) => thread.terminate()))
    },
  }
}

function defaultThreads(): number {
  return Math.max(1, Math.min(4, availableParallelism() - 1))
}
