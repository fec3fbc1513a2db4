import { Worker } from 'node:worker_threads'
import type { BoundCall } from '../../rpc/core/boundCall.js'
import type { RpcOutcome } from '../../rpc/core/envelope.js'
import { createClaimMemory, openClaims } from './claims.js'
import { createFlowMemory, openFlow } from './partFlow.js'
import {
  type ReaderCommand,
  type ReaderData,
  type ReaderMessage,
  type ReaderRequest,
  sharedClockMs,
} from './protocol.js'

/** A scheduled request. */
export interface Job {
  readonly call: BoundCall
  /** Arrival time, by `performance.now()` of the main thread. */
  readonly queuedMs: number
  /** Time limit once a thread starts it, and the original limit for messages. */
  readonly runMs: number
  readonly limitMs: number
  /** In the quick queue: the request is aborted after this time. */
  readonly tryMs?: number
}

/** A reader thread seen from the main thread, with its assigned requests. */
export interface ReaderHandle<J extends Job> {
  /** True once the thread has reported that it is ready. */
  readonly ready: boolean
  /** Number of assigned requests without an answer, not counting withdrawn ones. */
  jobCount(): number
  has(job: J): boolean
  /** The same requests, in order of assignment. */
  jobs(): Iterable<J>
  /** Returns when the thread started a request, by `performance.now()` of the main thread; undefined if it has not. */
  begunMs(job: J): number | undefined
  /** Assigns a request; false if no slot is free now. @throws Error if the parameters cannot be cloned because they
   *  are nested too deep. */
  assign(job: J): boolean
  /** Withdraws an assigned request; false if it was started. */
  withdraw(job: J): boolean
  /** Withdraws the last assigned request; undefined if all were started. */
  withdrawLast(): J | undefined
  /** Makes the thread stop a started request at its next check of the clock. */
  abort(job: J): void
  /** Withdraws all assigned requests without an answer: returns those not started, in order, and the others. */
  withdrawAll(): { waiting: J[]; begun: J[] }
  /** Asks the thread, which has had no requests for a while, to return memory to the system. */
  rest(): void
  /** Asks the thread to stop, and terminates it if it has not stopped within a second, or within five while it opens
   *  the database. While it starts, before and after opening the database, terminates it at once. Resolves with
   *  which of both happened. */
  end(): Promise<'ended' | 'terminated'>
}

/** How the consumer of a long result controls its thread. */
export interface JobFlow {
  /** Reports that this many bytes were consumed. */
  release(bytes: number): void
  /** Reports that the rest is not needed. */
  abandon(): void
}

/** Events of a thread. */
export interface ThreadEvents<J extends Job> {
  onReady(): void
  onOutcome(job: J, outcome: RpcOutcome): void
  /** Called when a part of a long result arrived. `onOutcome` follows with the last part, or an error. */
  onPart(job: J, part: Uint8Array, flow: JobFlow): void
  /** Called when the request was aborted after its `tryMs`. */
  onUnfinished(job: J): void
  /** Called when the thread failed. */
  onError(error: unknown): void
  onExit(): void
}

/** Twice as many slots: withdrawn requests keep their slot until the thread reaches them. */
const SLOTS_PER_JOB = 2

/** Offset of this thread's `performance.now()` from `sharedClockMs`. */
const CLOCK_OFFSET_MS = sharedClockMs() - performance.now()

/** Max time of stopping. Work that checks its deadline takes some milliseconds, opening the database as long; on a
 *  busy machine threads of low priority wait for a core. */
const END_GRACE_MS = { working: 1000, opening: 5000 }

/** Starts a thread with at most `maxJobs` assigned requests. */
export function startReaderThread<J extends Job>(
  data: Omit<ReaderData, 'claims' | 'flow'>,
  maxJobs: number,
  events: ThreadEvents<J>,
): ReaderHandle<J> {
  const memory = createClaimMemory(maxJobs * SLOTS_PER_JOB)
  const claims = openClaims(memory)
  const flowMemory = createFlowMemory()
  const flow = openFlow(flowMemory)
  const workerData: ReaderData = { ...data, claims: memory, flow: flowMemory }
  const worker = new Worker(new URL('./readerThread.js', import.meta.url), { workerData })
  const slots = new Map<J, number>() // in order of assignment
  const jobs: (J | undefined)[] = []
  let ready = false

  const forget = (job: J, slot: number) => {
    slots.delete(job)
    jobs[slot] = undefined
  }
  const withdraw = (job: J) => {
    const slot = slots.get(job)
    if (slot === undefined || !claims.withdraw(slot)) return false
    forget(job, slot)
    return true
  }
  worker.on('message', (message: ReaderMessage) => {
    if (message.kind === 'ready') {
      ready = true
      events.onReady()
      return
    }
    const { slot } = message
    const job = jobs[slot]!
    if (message.kind === 'part') {
      const isCurrent = () => jobs[slot] === job
      events.onPart(job, new Uint8Array(message.part), {
        release: (bytes) => isCurrent() && flow.release(bytes),
        abandon: () => isCurrent() && flow.abandon(slot),
      })
      return
    }
    forget(job, slot)
    claims.free(slot)
    if (message.kind === 'unfinished') return events.onUnfinished(job)
    events.onOutcome(job, message.kind === 'error' ? { error: message.error } : { result: bytesOf(message.result) })
  })
  worker.on('error', events.onError)
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      events.onExit()
      resolve()
    })
  })
  const terminate = async () => {
    await worker.terminate()
    return 'terminated' as const
  }

  return {
    get ready() {
      return ready
    },
    jobCount: () => slots.size,
    has: (job) => slots.has(job),
    jobs: () => slots.keys(),
    begunMs(job) {
      const slot = slots.get(job)
      const begunMs = slot === undefined ? undefined : claims.begunMs(slot)
      return begunMs === undefined ? undefined : begunMs - CLOCK_OFFSET_MS
    },
    assign(job) {
      const slot = slots.size < maxJobs ? claims.offer() : undefined
      if (slot === undefined) return false
      const { call, runMs, limitMs, tryMs } = job
      const queuedMs = job.queuedMs + CLOCK_OFFSET_MS
      try {
        worker.postMessage({ slot, call: call.toMessage(), queuedMs, runMs, limitMs, tryMs } satisfies ReaderRequest)
      } catch (error) {
        claims.free(slot)
        throw error
      }
      slots.set(job, slot)
      jobs[slot] = job
      return true
    },
    withdraw,
    abort(job) {
      const slot = slots.get(job)
      if (slot !== undefined) claims.abort(slot)
    },
    withdrawLast: () => [...slots.keys()].reverse().find(withdraw),
    withdrawAll() {
      const waiting = [...slots.keys()].filter(withdraw)
      return { waiting, begun: [...slots.keys()] }
    },
    rest: () => worker.postMessage('rest' satisfies ReaderCommand),
    end() {
      claims.requestStop()
      // Until it has loaded everything, it would not notice for half a second.
      if (!ready && !claims.isUnterminable()) return terminate()
      worker.postMessage('stop' satisfies ReaderCommand)
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(terminate()), END_GRACE_MS[ready ? 'working' : 'opening'])
        void exited.then(() => {
          clearTimeout(timer)
          resolve('ended')
        })
      })
    },
  }
}

function bytesOf(result: string | ArrayBuffer): Uint8Array {
  return typeof result === 'string' ? Buffer.from(result, 'latin1') : new Uint8Array(result)
}
