import type { RemoteCost, ScheduledJob, ScheduledThread, Scheduler } from './scheduler.js'

/* Determines the number of reader threads. At rest one thread, which runs requests of every class, is enough; each
 * uses 40 to 80 MB. All are started when requests wait, and ended when none has arrived for a while. */

/** Interval of the checks of requests at rest. Requests that wait at two checks in a row need more threads. */
const LOOK_MS = 20

/** A request that runs this long at rest may make others wait. */
const LONG_MS = 250

/** Without requests for this long, all threads but one are ended. */
const IDLE_MS = 30_000

/** Delay before a thread is started in place of one that died before it was ready, so that a broken installation
 *  does not spin. */
const RESPAWN_DELAY_MS = 1000

const CLASSES = ['evm', 'scan', 'quick'] as const

/** Starts and ends reader threads. */
export interface Population<J extends ScheduledJob> {
  /** Starts the missing threads. */
  fill(): void
  /** Prepares for a request that is about to be scheduled in a class. */
  use(cost: RemoteCost): void
  /** At rest: assigns the thread, if it has nothing left to do, to the class that waits. */
  settle(thread: ScheduledThread<J>): void
  /** Starts another thread in place of one that is gone, later if that one was never ready. */
  replace(thread: ScheduledThread<J>): void
  /** Resolves once the thread at rest is warm, or every thread of a class if there are more. */
  warm(): Promise<void>
  /** Starts all threads; resolves once they and the spare are warm. */
  ready(): Promise<void>
  /** Starts no more threads. Resolves once all ending threads have ended. */
  close(): Promise<void>
}

/** The parts of a pool that its population manages. */
export interface PopulationOptions<J extends ScheduledJob> {
  /** The living threads; `start` adds to them. */
  readonly threads: Set<ScheduledThread<J>>
  /** Threads of each class, once requests need them. */
  readonly wanted: Record<RemoteCost, number>
  readonly scheduler: Scheduler<J>
  /** Milliseconds without requests after which all threads but one are ended. Default: 30,000. */
  readonly idleMs?: number
  /** Called with the one remaining thread when no request has arrived for `idleMs`. */
  onRest(thread: ScheduledThread<J>): void
  /** @param isAwaited the server is not ready before this thread is */
  start(cost: RemoteCost | undefined, isAwaited: boolean): void
}

/** Creates a population without threads: call `fill`. */
export function createPopulation<J extends ScheduledJob>(options: PopulationOptions<J>): Population<J> {
  const { threads, wanted, scheduler, start, onRest, idleMs = IDLE_MS } = options
  const waiters: (() => void)[] = []
  const warmWaiters: (() => void)[] = []
  const respawns = new Set<NodeJS.Timeout>()
  const ending = new Set<Promise<unknown>>()
  let isResting = true
  /** The thread that was running at rest: it runs requests of every class until all others are ready, then becomes
   *  the spare. */
  let first: ScheduledThread<J> | undefined
  let wasWarm = false
  let isClosed = false
  let usedMs = performance.now()
  let didWait = false
  let looking: NodeJS.Timeout | undefined
  let idling: NodeJS.Timeout | undefined

  /** Starts the thread of the quick queue and the missing ones, then the spare. */
  const fill = () => {
    if (isClosed) return
    if (isResting && threads.size === 0) start(undefined, !wasWarm)
    if (!isResting) startMissing()
    const starting = [...threads].filter(({ reader }) => !reader.ready)
    if (starting.every(({ cost }) => !isResting && (cost === undefined || cost === 'quick'))) {
      if (!wasWarm) restSoon()
      wasWarm = true
      for (const resolve of warmWaiters.splice(0)) resolve()
    }
    if (isResting || starting.length > 0) return
    makeSpare()
    if (count(threads, undefined) === 0) start(undefined, false)
    else for (const resolve of waiters.splice(0)) resolve()
  }
  const startMissing = () => {
    const others = [...threads].filter((thread) => thread !== first)
    // First: while endless requests occupy the one thread, short ones of other clients wait for it.
    if (count(others, 'quick') === 0) start('quick', false)
    for (const cost of ['evm', 'scan'] as const) {
      let missing = wanted[cost] - count(others, cost)
      for (const thread of others) {
        if (missing <= 0) break
        if (!isIdleSpare(thread)) continue
        thread.cost = cost
        missing--
        scheduler.refill(thread)
      }
      for (; missing > 0; missing--) start(cost, !wasWarm)
    }
  }
  /** Called when all are ready: moves what the first thread has not started to the others. */
  const makeSpare = () => {
    if (first === undefined) return
    first.cost = undefined
    scheduler.putBack(first.reader.withdrawAll().waiting)
    first = undefined
    scheduler.refillAll()
  }
  const grow = () => {
    if (isClosed || !isResting) return
    isResting = false
    first = [...threads][0]
    clearTimeout(looking)
    looking = undefined
    fill()
    restSoon()
  }

  /** True while a request waits for the thread at rest, or may have to. */
  const isShort = () => {
    let isWaiting = CLASSES.some((cost) => scheduler.waiting(cost) > 0)
    for (const { reader } of threads) {
      if (!reader.ready) return false // what waits for the first thread would wait as long for others
      const [running, behind] = reader.jobs()
      if (behind !== undefined) isWaiting = true
      const begunMs = running && reader.begunMs(running)
      if (begunMs !== undefined && performance.now() - begunMs >= LONG_MS) return true
    }
    const isLasting = isWaiting && didWait
    didWait = isWaiting
    return isLasting
  }
  const look = () => {
    looking = undefined
    if (isClosed || !isResting) return
    if (isShort()) grow()
    else if (hasRequests(threads, scheduler)) lookSoon()
  }
  const lookSoon = () => {
    looking ??= setTimeout(look, LOOK_MS).unref()
  }

  /** Ends all threads but the spare when no request has arrived for a while. */
  const restIfIdle = () => {
    idling = undefined
    if (isClosed) return
    const isBusy = hasRequests(threads, scheduler) || [...threads].some(({ reader }) => !reader.ready)
    const last = isResting ? [...threads][0] : [...threads].find(isIdleSpare)
    if (isBusy || last === undefined || performance.now() < usedMs + idleMs) return restSoon()
    isResting = true
    didWait = false
    for (const thread of [...threads]) if (thread !== last) endThread(thread)
    onRest(last)
  }
  const restSoon = () => {
    const leftMs = usedMs + idleMs - performance.now()
    idling ??= setTimeout(restIfIdle, leftMs > 0 ? leftMs : idleMs).unref()
  }
  const endThread = (thread: ScheduledThread<J>) => {
    threads.delete(thread)
    const ended = thread.reader.end()
    ending.add(ended)
    void ended.then(() => ending.delete(ended))
  }
  return {
    fill,
    use(cost) {
      usedMs = performance.now()
      restSoon()
      for (const thread of isResting ? threads : first ? [first] : [])
        if (thread.reader.jobCount() === 0) thread.cost = cost
      if (isResting) lookSoon()
    },
    settle(thread) {
      if ((!isResting && thread !== first) || thread.reader.jobCount() > 0) return
      thread.cost = CLASSES.find((cost) => scheduler.waiting(cost) > 0)
    },
    replace(thread) {
      if (thread === first) first = undefined
      if (isClosed) return
      if (thread.reader.ready) return fill()
      const timer = setTimeout(() => {
        respawns.delete(timer)
        fill()
      }, RESPAWN_DELAY_MS)
      respawns.add(timer)
    },
    warm: () =>
      new Promise((resolve) => {
        warmWaiters.push(resolve)
        fill()
      }),
    ready: () =>
      new Promise((resolve) => {
        waiters.push(resolve)
        grow()
        fill()
      }),
    async close() {
      isClosed = true
      for (const timer of [...respawns, looking, idling]) clearTimeout(timer)
      for (const resolve of [...warmWaiters.splice(0), ...waiters.splice(0)]) resolve()
      await Promise.all(ending)
    },
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
