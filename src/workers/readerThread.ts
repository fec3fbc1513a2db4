import { Worker } from 'node:worker_threads'
import type { BoundCall } from '../rpc/core/boundCall.js'
import type { RpcOutcome } from '../rpc/core/envelope.js'
import { createClaimMemory, openClaims } from './claims.js'
import { monotonicMs, type ReaderCommand, type ReaderData, type ReaderMessage, type ReaderRequest } from './protocol.js'

/** A request on its way. */
export interface Job {
  readonly call: BoundCall
  /** When it came, by `performance.now()` of the main thread. */
  readonly queuedMs: number
  /** How long it may run, from when a thread begins it, and the limit of which that is left, for words. */
  readonly runMs: number
  readonly limitMs: number
}

/** A reader thread, seen from the main thread, and the requests that it was handed. */
export interface ReaderThread<J extends Job> {
  /** True once the thread has said that it is. */
  readonly ready: boolean
  /** Requests that it was handed and has not answered, those taken back not counted. */
  jobCount(): number
  has(job: J): boolean
  /** All that it was handed and has not answered, in the order in which it was. */
  jobs(): Iterable<J>
  /** When it began a request, by `performance.now()` of the main thread; undefined when it has not. */
  begunMs(job: J): number | undefined
  /** Hands a request over; false when there is no room for it now.
   *  @throws Error when the parameters cannot be copied to another thread, being nested too deep. */
  hand(job: J): boolean
  /** Takes a request back that it was handed and has not begun; false when it has. */
  withdraw(job: J): boolean
  /** Takes back the request that it was handed last; undefined when it has begun all. */
  withdrawLast(): J | undefined
  /** All that it was handed and has not answered: those that it has not begun, in their order, and the others. */
  withdrawAll(): { waiting: J[]; begun: J[] }
  /** Asks the thread to end, and terminates it when it has not within a second. Gives which of both it was. */
  end(): Promise<'ended' | 'terminated'>
}

/** What a thread reports. */
export interface ThreadEvents<J extends Job> {
  onReady(): void
  onOutcome(job: J, outcome: RpcOutcome): void
  /** Is told why the thread failed. */
  onError(error: unknown): void
  onExit(): void
}

/** Twice the room: requests that were taken back need theirs until the thread comes to them. */
const SLOTS_PER_JOB = 2

/** What this thread's `performance.now()` is behind `monotonicMs`. */
const CLOCK_OFFSET_MS = monotonicMs() - performance.now()

/** How long a thread that is asked to end may take. All that look at their deadline take some milliseconds. */
const END_GRACE_MS = 1000

/** Starts a thread that is handed at most `maxJobs` requests at a time. */
export function startReaderThread<J extends Job>(
  data: Omit<ReaderData, 'claims'>,
  maxJobs: number,
  events: ThreadEvents<J>,
): ReaderThread<J> {
  const memory = createClaimMemory(maxJobs * SLOTS_PER_JOB)
  const claims = openClaims(memory)
  const workerData: ReaderData = { ...data, claims: memory }
  const worker = new Worker(new URL('./reader.js', import.meta.url), { workerData })
  const slots = new Map<J, number>() // in the order in which they were handed over
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
    if (message.kind === 'failed') return events.onError(message.error)
    const job = jobs[message.slot]!
    forget(job, message.slot)
    claims.free(message.slot)
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
    hand(job) {
      const slot = slots.size < maxJobs ? claims.offer() : undefined
      if (slot === undefined) return false
      const { call, runMs, limitMs } = job
      const queuedMs = job.queuedMs + CLOCK_OFFSET_MS
      try {
        worker.postMessage({ slot, call: call.toMessage(), queuedMs, runMs, limitMs } satisfies ReaderRequest)
      } catch (error) {
        claims.free(slot)
        throw error
      }
      slots.set(job, slot)
      jobs[slot] = job
      return true
    },
    withdraw,
    withdrawLast: () => [...slots.keys()].reverse().find(withdraw),
    withdrawAll() {
      const waiting = [...slots.keys()].filter(withdraw)
      return { waiting, begun: [...slots.keys()] }
    },
    end() {
      if (!ready) return terminate() // it would not hear of it before it has loaded everything
      claims.requestStop()
      worker.postMessage('stop' satisfies ReaderCommand)
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(terminate()), END_GRACE_MS)
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
