import { availableParallelism } from 'node:os'
import { describeError } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import { Thread } from '../../workers/spawn.js'
import type { SenderBatch } from './senderBatch.js'

/** A request to the thread; each batch gets one reply, in order. Null wakes a thread that must stop. */
export type SenderRecoveryRequest = SenderBatch | null

/** Reply of the thread: it is through with a batch. */
export type SenderRecoveryReply = 'done'

interface Running {
  readonly thread: Thread<SenderRecoveryRequest, SenderRecoveryReply>
  /** Set: the thread recovers no more senders. */
  readonly isStopped: Uint8Array
  /** Callbacks of the batches that have no reply yet. */
  readonly waiting: (() => void)[]
}

interface SenderRecoveryOptions {
  /** False: no thread is started. Default: true. */
  readonly isEnabled?: boolean
  /** With less than two, no thread is started. Default: those of the process. */
  readonly cores?: number
  /** Transactions of a source before those whose senders start the thread. Default: 2,000. */
  readonly minTransactions?: number
  /** The thread ends after this time without a batch. Default: 10 s. */
  readonly idleMs?: number
  readonly log?: Logger
}

// Recovering the senders of fewer transactions takes hardly longer than starting the thread.
const MIN_TRANSACTIONS = 2_000
// Longer than a writer works on indexes and checkpoints between two batches.
const IDLE_MS = 10_000
// The thread keeps nothing of a block. With it, an import of full blocks had 65 to 86 MB more at its peak.
const YOUNG_GENERATION_MB = 8

/** A helper thread that recovers senders ahead of the thread that decodes their blocks. The first batch starts it; it
 *  ends after some time without one. After it died, none is started any more. */
export class SenderRecovery {
  /** Transactions of a source before those whose senders start the thread. */
  readonly minTransactions: number
  readonly #idleMs: number
  readonly #log: Logger | undefined
  #running: Running | undefined
  #isOver: boolean
  #timer: NodeJS.Timeout | undefined
  #ending: Promise<unknown> = Promise.resolve()

  /** Starts no thread yet. */
  constructor({ isEnabled = true, cores = availableParallelism(), ...options }: SenderRecoveryOptions = {}) {
    this.#isOver = !isEnabled || cores < 2
    this.minTransactions = options.minTransactions ?? MIN_TRANSACTIONS
    this.#idleMs = options.idleMs ?? IDLE_MS
    this.#log = options.log
  }

  /** False if batches are left to their callers: after `close`, and after the thread died. */
  get isActive(): boolean {
    return !this.#isOver
  }

  /** True while the thread runs. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Sends a batch to the thread. Resolves when the thread is through with it or has ended; never rejects. */
  recover(batch: SenderBatch): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const { thread, waiting } = this.#running ?? this.#start()
    this.#timer ??= setTimeout(() => this.#endIdle(), this.#idleMs).unref()
    this.#timer.refresh()
    return new Promise((resolve) => {
      waiting.push(resolve)
      thread.post(batch)
    })
  }

  /** Ends the thread. Batches under way are left to their callers. */
  async close(): Promise<void> {
    this.#isOver = true
    this.#end()
    await this.#ending
  }

  #start(): Running {
    const isStopped = new Uint8Array(new SharedArrayBuffer(1))
    const waiting: (() => void)[] = []
    const thread: Running['thread'] = new Thread(new URL('./senderRecoveryThread.js', import.meta.url), {
      data: isStopped.buffer,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      keepsAlive: 'busy',
      onMessage: () => waiting.shift()?.(),
      onEnd: (error) => {
        for (const resolve of waiting.splice(0)) resolve()
        if (this.#running?.thread !== thread) return // closed
        this.#running = undefined
        this.#isOver = true
        const reason = error === undefined ? 'it exited' : describeError(error)
        this.#log?.warn({ error: reason }, 'the thread that recovers senders ended; the writer recovers them itself')
      },
    })
    this.#running = { thread, isStopped, waiting }
    return this.#running
  }

  #endIdle(): void {
    if (this.#running?.waiting.length === 0) this.#end()
    else this.#timer?.refresh()
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    running.isStopped[0] = 1
    this.#ending = Promise.all([this.#ending, running.thread.end(null)])
  }
}
