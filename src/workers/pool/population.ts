import type { RemoteCost, ScheduledJob, ScheduledThread, Scheduler } from './scheduler.js'

/* How many reader threads there are. At rest one thread, which takes requests of every class, is enough; each holds 40 to
 * 80 MB. All are started when requests wait, and ended when none has come for a while. */

/** How often requests at rest are looked at. What waits at two looks in a row needs more threads. */
const LOOK_MS = 20

/** A request that runs this long at rest may make others wait. */
const LONG_MS = 250

/** Without requests for this long, all threads but one are ended. */
const IDLE_MS = 30_000

/** Delay before a thread is started instead of one that died before it was ready, so that a broken installation does not spin. */
const RESPAWN_DELAY_MS = 1000

const CLASSES = ['evm', 'scan', 'quick'] as const

/** Starts and ends reader threads. */
export interface Population<J extends ScheduledJob> {
  /** Starts what is missing. */
  fill(): void
  /** Prepares for a request that is about to be scheduled in a class. */
  use(cost: RemoteCost): void
  /** At rest: the thread, if it has nothing left to do, takes requests of the class that waits. */
  settle(thread: ScheduledThread<J>): void
  /** Starts another thread for one that is gone, later if that one was never ready. */
  replace(thread: ScheduledThread<J>): void
  /** Resolves once the thread at rest is warm, or every thread of a class if there are more. */
  warm(): Promise<void>
  /** Starts all threads; resolves once they and the spare are warm. */
  ready(): Promise<void>
  /** Starts no more threads. Resolves once those that were to end have ended. */
  close(): Promise<void>
}

/** Parts of a pool that its population works on. */
export interface PopulationOptions<J extends ScheduledJob> {
  /** The living threads; `start` adds to them. */
  readonly threads: Set<ScheduledThread<J>>
  /** Threads of each class, once requests need them. */
  readonly wanted: Record<RemoteCost, number>
  readonly scheduler: Scheduler<J>
  /** Milliseconds without requests after which all threads but one are ended. Default: 30,000. */
  readonly idleMs?: number
  /** Called with the one thread that is left when no request has come for `idleMs`. */
  onRest(thread: ScheduledThread<J>): void
  /** @param isAwaited the server is not ready before this thread is */
  start(cost: RemoteCost | undefined, isAwaited: boolean): void
}

/** A population without threads: call `fill`. */
export function createPopulation<J extends ScheduledJob>(options: PopulationOptions<J>): Population<J> {
  const { threads, wanted, scheduler, start, onRest, idleMs = IDLE_MS } = options
  const waiters: (() => void)[] = []
  const warmWaiters: (() => void)[] = []
  const respawns = new Set<NodeJS.Timeout>()
  const ending = new Set<Promise<unknown>>()
  let isResting = true
  /** The thread that was there at rest: it takes requests of every class until all others are ready, and is the spare then. */
  let first: ScheduledThread<J> | undefined
  let wasWarm = false
  let isClosed = false
  let usedMs = performance.now()
  let didWait = false
  let looking: NodeJS.Timeout | undefined
  let idling: NodeJS.Timeout | undefined

  /** Starts the thread of the quick lane and the missing ones, then the spare. */
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
  /** All are ready: what the first thread has not begun goes to the others. */
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

  /** True while something waits for the thread at rest, or may have to. */
  const isShort = () => {
    let isWaiting = CLASSES.some((cost) => scheduler.waiting(cost) > 0)
    for (const { reader } of threads) {
      if (!reader.ready) return false // what waits for the first thread would wait for others as long
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

  /** Ends all threads but the spare when no request has come for a while. */
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
