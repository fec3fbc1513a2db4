import type { EvmKind } from '../../evm/kinds.js'
import type { SharedWork } from '../../index/logs/sharedBatches.js'
import type { LogSettings } from '../../lib/logger.js'
import { sharedClockMs } from '../../lib/sharedClock.js'
import type { BoundCall, CallMessage } from '../../rpc/core/boundCall.js'
import type { Compatibility, RpcLimits } from '../../rpc/core/context.js'
import type { RpcOutcome } from '../../rpc/core/envelope.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'
import type { DatabaseFile } from '../../store/pages/databaseFile.js'
import { Thread } from '../spawn.js'
import { type Claims, createClaimMemory, openClaims } from './claims.js'
import { createFlowMemory, openFlow, type PartFlow } from './partFlow.js'

/** Start data of a reader thread. */
export interface ReaderData {
  readonly datadir: string
  readonly limits: RpcLimits
  readonly compatibility?: Compatibility
  readonly logging: LogSettings
  /** URL of a module that exports another method table than Cairn's own, as `METHODS`. */
  readonly methodsModule?: string
  /** The interpreter for calls. */
  readonly evm: EvmKind
  /** Descriptors of the database, opened by the main thread; undefined: logs are read by SQL alone. */
  readonly databaseFile: DatabaseFile | undefined
  /** 32 bytes that authenticate log cursors; undefined: those of the database. */
  readonly cursorSecret?: Uint8Array
  /** Load the EVM and run a call before reporting `ready`. */
  readonly loadEvm: boolean
  /** Load the log index's tail and run log queries before reporting `ready`. */
  readonly warmLogs: boolean
  /** The server is not ready before this thread is: the thread lowers its priority only then. */
  readonly awaited?: boolean
  /** Its OS priority below the main thread's, as nice(2) counts. */
  readonly niceness: number
  /** Milliseconds at rest after which it returns what all threads of the process have freed to the system. */
  readonly freedAfterMs: number
  /** Memory of the claims on its requests. */
  readonly claims: SharedArrayBuffer
  /** Memory of the flow of its results that are sent in parts. */
  readonly flow: SharedArrayBuffer
}

/** A call for a reader thread, which runs its calls in order. */
export interface ReaderRequest {
  /** Its claim slot, which also identifies its outcome. */
  readonly slot: number
  readonly call: CallMessage
  /** Arrival time, by `sharedClockMs`. */
  readonly queuedMs: number
  /** Time limit once the thread starts it. */
  readonly runMs: number
  /** The original time limit, for messages. */
  readonly limitMs: number
  /** In the quick queue: the request is aborted after this time and runs elsewhere. */
  readonly tryMs?: number
}

/** Asks an idle reader thread to stop, or to return memory to the system. A busy one finds `stopRequested` in its
 *  claims. */
export type ReaderCommand = 'stop' | 'rest'

/** Messages of a reader thread: that it is warm, then the outcome of each request, or that it was aborted after its
 *  `tryMs`. Before its outcome may come work that an idle thread may do for it, and the first parts of a long result.
 *  The result is a string with one character per byte, or a transferred buffer. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly slot: number; readonly result: string | Uint8Array<ArrayBuffer> }
  | { readonly kind: 'part'; readonly slot: number; readonly part: ArrayBuffer }
  | { readonly kind: 'help'; readonly slot: number; readonly work: SharedWork }
  | { readonly kind: 'unfinished'; readonly slot: number }
  | { readonly kind: 'error'; readonly slot: number; readonly error: RpcErrorBody }

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

/** How the consumer of a long result controls its thread. */
export interface JobFlow {
  /** Reports that this many bytes were consumed. */
  release(bytes: number): void
  /** Reports that the rest is not needed. */
  abandon(): void
}

/** Events of a reader thread. */
interface ReaderEvents<J extends Job> {
  onReady(): void
  onOutcome(job: J, outcome: RpcOutcome): void
  /** Called when a part of a long result arrived. `onOutcome` follows with the last part, or an error. */
  onPart(job: J, part: Uint8Array, flow: JobFlow): void
  /** Called when another thread may help with a request. */
  onHelpWanted(job: J, work: SharedWork): void
  /** Called when the request was aborted after its `tryMs`. */
  onUnfinished(job: J): void
  /** Called before `onExit` when the thread failed. */
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

/** A reader thread seen from the main thread, with its assigned requests. */
export class ReaderHandle<J extends Job> {
  readonly #maxJobs: number
  readonly #events: ReaderEvents<J>
  readonly #claims: Claims
  readonly #flow: PartFlow
  readonly #thread: Thread<ReaderRequest | ReaderCommand, ReaderMessage>
  readonly #slots = new Map<J, number>() // in order of assignment
  readonly #jobs: (J | undefined)[] = []
  #ready = false
  #ends = false

  /** Starts a thread with at most `maxJobs` assigned requests. */
  constructor(data: Omit<ReaderData, 'claims' | 'flow'>, maxJobs: number, events: ReaderEvents<J>) {
    const claims = createClaimMemory(maxJobs * SLOTS_PER_JOB)
    const flow = createFlowMemory()
    this.#maxJobs = maxJobs
    this.#events = events
    this.#claims = openClaims(claims)
    this.#flow = openFlow(flow)
    this.#thread = new Thread(new URL('./readerThread.js', import.meta.url), {
      data: { ...data, claims, flow } satisfies ReaderData,
      onMessage: (message) => this.#receive(message),
    })
    void this.#thread.exited.then((error) => {
      if (error !== undefined) events.onError(error)
      events.onExit()
    })
  }

  /** True once the thread has reported that it is ready. */
  get ready(): boolean {
    return this.#ready
  }

  /** Number of assigned requests without an answer, not counting withdrawn ones. */
  jobCount(): number {
    return this.#slots.size
  }

  has(job: J): boolean {
    return this.#slots.has(job)
  }

  /** The same requests, in order of assignment. */
  jobs(): Iterable<J> {
    return this.#slots.keys()
  }

  /** Returns when the thread started a request, by `performance.now()` of the main thread; undefined if it has not. */
  begunMs(job: J): number | undefined {
    const slot = this.#slots.get(job)
    const begunMs = slot === undefined ? undefined : this.#claims.begunMs(slot)
    return begunMs === undefined ? undefined : begunMs - CLOCK_OFFSET_MS
  }

  /** Assigns a request; false if no slot is free now, or the thread was asked to end. @throws Error if the parameters
   *  cannot be cloned because they are nested too deep. */
  assign(job: J): boolean {
    const slot = !this.#ends && this.#slots.size < this.#maxJobs ? this.#claims.offer() : undefined
    if (slot === undefined) return false
    const { call, runMs, limitMs, tryMs } = job
    const queuedMs = job.queuedMs + CLOCK_OFFSET_MS
    try {
      this.#thread.post({ slot, call: call.toMessage(), queuedMs, runMs, limitMs, tryMs })
    } catch (error) {
      this.#claims.free(slot)
      throw error
    }
    this.#slots.set(job, slot)
    this.#jobs[slot] = job
    return true
  }

  /** Withdraws an assigned request; false if it was started. */
  withdraw(job: J): boolean {
    const slot = this.#slots.get(job)
    if (slot === undefined || !this.#claims.withdraw(slot)) return false
    this.#remove(job, slot)
    return true
  }

  /** Withdraws the last assigned request; undefined if all were started. */
  withdrawLast(): J | undefined {
    return [...this.#slots.keys()].reverse().find((job) => this.withdraw(job))
  }

  /** Withdraws all assigned requests without an answer: returns those not started, in order, and the others. */
  withdrawAll(): { waiting: J[]; begun: J[] } {
    const waiting = [...this.#slots.keys()].filter((job) => this.withdraw(job))
    return { waiting, begun: [...this.#slots.keys()] }
  }

  /** Makes the thread stop a started request at its next check of the clock. */
  abort(job: J): void {
    const slot = this.#slots.get(job)
    if (slot !== undefined) this.#claims.abort(slot)
  }

  /** Asks the thread, which has had no requests for a while, to return memory to the system. */
  rest(): void {
    this.#thread.post('rest')
  }

  /** Asks the thread to stop, and terminates it if it has not stopped within a second, or within five while it opens
   *  the database. While it starts, before and after opening the database, terminates it at once. Resolves with
   *  which of both happened. */
  end(): Promise<'ended' | 'terminated'> {
    this.#ends = true
    this.#claims.requestStop()
    // Until it has loaded everything, it would not notice for half a second.
    if (!this.#ready && !this.#claims.isUnterminable()) return this.#thread.terminate()
    return this.#thread.end('stop', END_GRACE_MS[this.#ready ? 'working' : 'opening'])
  }

  #receive(message: ReaderMessage): void {
    if (message.kind === 'ready') {
      this.#ready = true
      this.#events.onReady()
      return
    }
    const { slot } = message
    const job = this.#jobs[slot]!
    if (message.kind === 'part') {
      this.#events.onPart(job, new Uint8Array(message.part), this.#flowOf(job, slot))
      return
    }
    if (message.kind === 'help') {
      this.#events.onHelpWanted(job, message.work)
      return
    }
    this.#remove(job, slot)
    this.#claims.free(slot)
    if (message.kind === 'unfinished') this.#events.onUnfinished(job)
    else if (message.kind === 'error') this.#events.onOutcome(job, { error: message.error })
    else this.#events.onOutcome(job, { result: bytesOf(message.result) })
  }

  #flowOf(job: J, slot: number): JobFlow {
    const isCurrent = () => this.#jobs[slot] === job
    return {
      release: (bytes) => isCurrent() && this.#flow.release(bytes),
      abandon: () => isCurrent() && this.#flow.abandon(slot),
    }
  }

  #remove(job: J, slot: number): void {
    this.#slots.delete(job)
    this.#jobs[slot] = undefined
  }
}

function bytesOf(result: string | Uint8Array): Uint8Array {
  return typeof result === 'string' ? Buffer.from(result, 'latin1') : result
}
