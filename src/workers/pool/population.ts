import type { RemoteCost, ScheduledJob, ScheduledThread, Scheduler } from './scheduler.js'

/* Determines the number of reader threads. At rest one thread, which runs requests of every class, is enough; each
 * uses 40 to 80 MB. All are started when requests wait or could be shared, and ended when none has arrived for a
 * while. */

/** Interval of the checks of requests at rest. Requests that wait at two checks in a row need more threads. */
const LOOK_MS = 20

/** A request that runs this long at rest may make others wait. */
const LONG_MS = 250

/** Without requests for this long, all threads but one are ended, unless an option says otherwise. */
export const DEFAULT_IDLE_MS = 30_000

/** Requests at rest that another thread could have helped with, before the others are started. */
const WISHES = 3

/** Delay before a thread is started in place of one that died before it was ready, so that a broken installation
 *  does not spin. */
const RESPAWN_DELAY_MS = 1000

const CLASSES = ['evm', 'scan', 'quick'] as const

/** The parts of a pool that its population manages. */
interface PopulationOptions<J extends ScheduledJob> {
  /** The living threads; `start` adds to them. */
  readonly threads: Set<ScheduledThread<J>>
  /** Threads of each class, once requests need them. */
  readonly wanted: Record<RemoteCost, number>
  readonly scheduler: Scheduler<J>
  /** Milliseconds without requests after which all threads but one are ended. */
  readonly idleMs: number
  /** Called with the one remaining thread when no request has arrived for `idleMs`. */
  onRest(thread: ScheduledThread<J>): void
  /** @param isAwaited the server is not ready before this thread is */
  start(cost: RemoteCost | undefined, isAwaited: boolean): void
}

/** Starts and ends reader threads. It has none at first: call `fill`. */
export class Population<J extends ScheduledJob> {
  readonly #options: PopulationOptions<J>
  readonly #threads: Set<ScheduledThread<J>>
  readonly #scheduler: Scheduler<J>
  readonly #idleMs: number
  readonly #waiters: (() => void)[] = []
  readonly #warmWaiters: (() => void)[] = []
  readonly #respawns = new Set<NodeJS.Timeout>()
  readonly #ending = new Set<Promise<unknown>>()
  #isResting = true
  /** The thread that was running at rest: it runs requests of every class until all others are ready, then becomes
   *  the spare. */
  #first: ScheduledThread<J> | undefined
  #wasWarm = false
  #isClosed = false
  #usedMs = performance.now()
  #didWait = false
  /** Requests since the last rest for which no thread was idle to help. */
  #wishes = 0
  #looking: NodeJS.Timeout | undefined
  #idling: NodeJS.Timeout | undefined

  constructor(options: PopulationOptions<J>) {
    this.#options = options
    this.#threads = options.threads
    this.#scheduler = options.scheduler
    this.#idleMs = options.idleMs
  }

  /** Starts the missing threads: that of the quick queue and the others, then the spare. */
  fill(): void {
    if (this.#isClosed) return
    const { start } = this.#options
    if (this.#isResting && this.#threads.size === 0) start(undefined, !this.#wasWarm)
    if (!this.#isResting) this.#startMissing()
    const starting = [...this.#threads].filter(({ reader }) => !reader.ready)
    if (starting.every(({ cost }) => !this.#isResting && (cost === undefined || cost === 'quick'))) {
      if (!this.#wasWarm) this.#restSoon()
      this.#wasWarm = true
      for (const resolve of this.#warmWaiters.splice(0)) resolve()
    }
    if (this.#isResting || starting.length > 0) return
    this.#makeSpare()
    if (count(this.#threads, undefined) === 0) start(undefined, false)
    else for (const resolve of this.#waiters.splice(0)) resolve()
  }

  /** Prepares for a request that is about to be scheduled in a class. */
  use(cost: RemoteCost): void {
    this.#usedMs = performance.now()
    this.#restSoon()
    for (const thread of this.#isResting ? this.#threads : this.#first ? [this.#first] : [])
      if (thread.reader.jobCount() === 0) thread.cost = cost
    if (this.#isResting) this.#lookSoon()
  }

  /** Notes that a request could have used another thread. */
  wish(): void {
    if (this.#isResting && ++this.#wishes >= WISHES) this.#grow()
  }

  /** At rest: assigns the thread, if it has nothing left to do, to the class that waits. */
  settle(thread: ScheduledThread<J>): void {
    if ((!this.#isResting && thread !== this.#first) || thread.reader.jobCount() > 0) return
    thread.cost = CLASSES.find((cost) => this.#scheduler.waiting(cost) > 0)
  }

  /** Starts another thread in place of one that is gone, later if that one was never ready. */
  replace(thread: ScheduledThread<J>): void {
    if (thread === this.#first) this.#first = undefined
    if (this.#isClosed) return
    if (thread.reader.ready) {
      this.fill()
      return
    }
    const timer = setTimeout(() => {
      this.#respawns.delete(timer)
      this.fill()
    }, RESPAWN_DELAY_MS)
    this.#respawns.add(timer)
  }

  /** Resolves once the thread at rest is warm, or every thread of a class if there are more. */
  warm(): Promise<void> {
    return new Promise((resolve) => {
      this.#warmWaiters.push(resolve)
      this.fill()
    })
  }

  /** Starts all threads; resolves once they and the spare are warm. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
      this.#grow()
      this.fill()
    })
  }

  /** Starts no more threads. Resolves once all ending threads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of [...this.#respawns, this.#looking, this.#idling]) clearTimeout(timer)
    for (const resolve of [...this.#warmWaiters.splice(0), ...this.#waiters.splice(0)]) resolve()
    await Promise.all(this.#ending)
  }

  #startMissing(): void {
    const { start, wanted } = this.#options
    const others = [...this.#threads].filter((thread) => thread !== this.#first)
    // First: while endless requests occupy the one thread, short ones of other clients wait for it.
    if (count(others, 'quick') === 0) start('quick', false)
    for (const cost of ['evm', 'scan'] as const) {
      let missing = wanted[cost] - count(others, cost)
      for (const thread of others) {
        if (missing <= 0) break
        if (!isIdleSpare(thread)) continue
        thread.cost = cost
        missing--
        this.#scheduler.refill(thread)
      }
      for (; missing > 0; missing--) start(cost, !this.#wasWarm)
    }
  }

  /** Called when all are ready: moves what the first thread has not started to the others. */
  #makeSpare(): void {
    const first = this.#first
    if (first === undefined) return
    first.cost = undefined
    this.#scheduler.putBack(first.reader.withdrawAll().waiting)
    this.#first = undefined
    this.#scheduler.refillAll()
  }

  #grow(): void {
    if (this.#isClosed || !this.#isResting) return
    this.#isResting = false
    this.#first = [...this.#threads][0]
    clearTimeout(this.#looking)
    this.#looking = undefined
    this.fill()
    this.#restSoon()
  }

  #look(): void {
    this.#looking = undefined
    if (this.#isClosed || !this.#isResting) return
    if (this.#isShort()) this.#grow()
    else if (hasRequests(this.#threads, this.#scheduler)) this.#lookSoon()
  }

  #lookSoon(): void {
    this.#looking ??= setTimeout(() => this.#look(), LOOK_MS).unref()
  }

  /** True while a request waits for the thread at rest, or may have to. */
  #isShort(): boolean {
    let isWaiting = CLASSES.some((cost) => this.#scheduler.waiting(cost) > 0)
    for (const { reader } of this.#threads) {
      if (!reader.ready) return false // what waits for the first thread would wait as long for others
      const [running, behind] = reader.jobs()
      if (behind !== undefined) isWaiting = true
      const begunMs = running && reader.begunMs(running)
      if (begunMs !== undefined && performance.now() - begunMs >= LONG_MS) return true
    }
    const isLasting = isWaiting && this.#didWait
    this.#didWait = isWaiting
    return isLasting
  }

  /** Ends all threads but the spare when no request has arrived for a while. */
  #restIfIdle(): void {
    this.#idling = undefined
    if (this.#isClosed) return
    const threads = [...this.#threads]
    const isBusy = hasRequests(threads, this.#scheduler) || threads.some(({ reader }) => !reader.ready)
    const last = this.#isResting ? threads[0] : threads.find(isIdleSpare)
    if (isBusy || last === undefined || performance.now() < this.#usedMs + this.#idleMs) {
      this.#restSoon()
      return
    }
    this.#isResting = true
    this.#didWait = false
    this.#wishes = 0
    for (const thread of threads) if (thread !== last) this.#end(thread)
    this.#options.onRest(last)
  }

  #restSoon(): void {
    const leftMs = this.#usedMs + this.#idleMs - performance.now()
    this.#idling ??= setTimeout(() => this.#restIfIdle(), leftMs > 0 ? leftMs : this.#idleMs).unref()
  }

  #end(thread: ScheduledThread<J>): void {
    this.#threads.delete(thread)
    const ended = thread.reader.end()
    this.#ending.add(ended)
    void ended.then(() => this.#ending.delete(ended))
  }
}

function hasRequests<J extends ScheduledJob>(threads: Iterable<ScheduledThread<J>>, scheduler: Scheduler<J>): boolean {
  for (const { reader } of threads) if (reader.jobCount() > 0) return true
  return CLASSES.some((cost) => scheduler.waiting(cost) > 0)
}

function isIdleSpare<J extends ScheduledJob>({ cost, reader }: ScheduledThread<J>): boolean {
  return cost === undefined && reader.jobCount() === 0
}

function count<J extends ScheduledJob>(threads: Iterable<ScheduledThread<J>>, cost: RemoteCost | undefined): number {
  let n = 0
  for (const thread of threads) if (thread.cost === cost) n++
  return n
}
