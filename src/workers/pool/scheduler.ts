import type { ClientId } from '../../rpc/core/dispatch.js'
import type { CostClass } from '../../rpc/core/method.js'
import { createFairQueue } from './fairQueue.js'
import type { Job, ReaderHandle } from './readerHandle.js'

/** Classes of requests that run in threads. `quick`: requests that get a few milliseconds, and run in the class of
 *  their method if they do not finish. */
export type RemoteCost = Exclude<CostClass, 'point'> | 'quick'

const COSTS = ['evm', 'scan', 'quick'] as const

/** Max requests assigned to a thread at a time. Small calls take less time than reporting one and getting the next,
 *  so a thread has some queued; an idle thread steals requests queued behind a long one. */
export const MAX_JOBS: Record<RemoteCost, number> = { evm: 16, scan: 1, quick: 4 }

/** A thread of the quick queue that exceeds the time of its request by this much is stuck: precompiles do not check
 *  it. */
const STUCK_MS = 100

/** Interval of the checks whether requests wait behind long ones or behind another client's, and the time after
 *  which a running request counts as long and a waiting one as waiting. */
const BALANCE_MS = 20

/** A request to be scheduled. */
export interface ScheduledJob extends Job {
  cost: RemoteCost
  /** The class of its method. */
  readonly ownCost: Exclude<RemoteCost, 'quick'>
  tryMs?: number
  /** Its client. */
  readonly client: ClientId
  /** Time of assignment, by `performance.now()`. */
  assignedMs: number
}

/** A thread and its class. */
export interface ScheduledThread<J extends ScheduledJob> {
  readonly reader: ReaderHandle<J>
  /** The class of its requests; undefined for the spare, which may still be finishing one. */
  cost: RemoteCost | undefined
}

/** Decides which thread runs which request, and when. */
export interface Scheduler<J extends ScheduledJob> {
  /** Assigns a request to the least busy thread, or enqueues it. */
  enqueue(job: J): void
  /** Assigns queued requests to a thread; if the queue is empty and the thread is idle, steals half of those queued
   *  behind others. */
  refill(thread: ScheduledThread<J>): void
  refillAll(): void
  /** Puts requests that a thread has not started back into the queue of their class. */
  putBack(jobs: readonly J[]): void
  /** Swaps a thread with an idle spare, if any. If the thread stops by itself, it becomes the next spare. */
  exchangeForSpare(thread: ScheduledThread<J>): void
  /** Removes a request that no thread has started; false if one has. */
  withdraw(job: J): boolean
  /** Number of requests of a class that wait for a thread. */
  waiting(cost: RemoteCost): number
  /** Removes and returns the newest waiting request of the client with the most. */
  takeFromGreediest(cost: RemoteCost): J | undefined
  /** Removes and returns all requests of a client that no thread has started. */
  withdrawClient(client: ClientId): J[]
  /** Clients with requests. */
  clients(): Set<ClientId>
  /** Removes and returns all waiting requests. */
  drain(): J[]
  /** Stops assigning requests. */
  stop(): void
}

/** Creates a scheduler over `threads`, which the pool adds to and removes from. Clients take turns; while several
 *  wait, each gets at most half of the threads of the class. If long requests of others occupy all threads, the
 *  spare is lent to a client without a thread. */
export function createScheduler<J extends ScheduledJob>(options: {
  threads: Iterable<ScheduledThread<J>>
  /** Threads of each class. */
  wanted: Record<RemoteCost, number>
  /** Called for a request that cannot be assigned. */
  onRefused(job: J, error: unknown): void
  /** Milliseconds to try a call in the quick queue, if it should be. */
  grantQuickCall(job: J): number | undefined
}): Scheduler<J> {
  const { threads, wanted, onRefused, grantQuickCall } = options
  const queues = { scan: createFairQueue<J>(), evm: createFairQueue<J>(), quick: createFairQueue<J>() }
  let balancing: NodeJS.Timeout | undefined
  let stopped = false

  const threadsOf = (cost: RemoteCost) => [...threads].filter((thread) => thread.cost === cost)

  /** True for a thread with a long request: no other should wait behind it. */
  const isStalled = ({ reader }: ScheduledThread<J>) => {
    for (const job of reader.jobs()) {
      const begunMs = reader.begunMs(job)
      return begunMs !== undefined && performance.now() - begunMs >= BALANCE_MS
    }
    return false
  }
  const isFree = (thread: ScheduledThread<J>) => {
    const { reader, cost } = thread
    if (!reader.ready || cost === undefined) return false
    const jobs = reader.jobCount()
    return jobs === 0 || (jobs < MAX_JOBS[cost] && !isStalled(thread))
  }

  /** Returns the number of threads with requests of a client, except one thread. */
  const countAvailable = (cost: RemoteCost, client: ClientId, except?: ScheduledThread<J>) => {
    let held = 0
    for (const thread of threads) {
      if (thread === except) continue
      for (const job of thread.reader.jobs()) {
        if (job.client !== client || job.cost !== cost) continue
        held++
        break
      }
    }
    return held
  }
  /** True while a spare finishes a request of the class. */
  const isLent = (cost: RemoteCost) => {
    for (const thread of threads) {
      if (thread.cost !== undefined) continue
      for (const job of thread.reader.jobs()) if (job.cost === cost) return true
    }
    return false
  }
  const takeNext = (cost: RemoteCost, thread: ScheduledThread<J>): J | undefined => {
    const queue = queues[cost]
    const severalWait = queue.clientCount() > 1
    if (!severalWait && !isLent(cost)) return queue.take()
    const share = severalWait ? Math.max(1, wanted[cost] >> 1) : wanted[cost]
    const isWithin = (limit: number) => (client: ClientId) => countAvailable(cost, client, thread) < limit
    return queue.take(isWithin(share)) ?? queue.take(isWithin(wanted[cost]))
  }

  /** Assigns a request. False if the thread has no free slot. */
  const assign = (thread: ScheduledThread<J>, job: J): boolean => {
    try {
      if (thread.reader.assign(job)) {
        job.assignedMs = performance.now()
        return true
      }
      // The thread is still skipping withdrawn requests, which produce no outcome.
      if (thread.reader.jobCount() === 0) setImmediate(() => refill(thread))
      return false
    } catch (error) {
      onRefused(job, error)
      return true
    }
  }
  const scheduleBalance = () => {
    if (!stopped) balancing ??= setTimeout(balance, BALANCE_MS).unref()
  }
  const enqueue = (job: J) => {
    const queue = queues[job.cost]
    let best: ScheduledThread<J> | undefined
    if (queue.size() === 0) {
      const mayTake = !isLent(job.cost)
      for (const thread of threads) {
        if (thread.cost !== job.cost || !isFree(thread)) continue
        if (!mayTake && countAvailable(job.cost, job.client, thread) >= wanted[job.cost]) continue
        if (best === undefined || thread.reader.jobCount() < best.reader.jobCount()) best = thread
      }
    }
    const waits = best === undefined || best.reader.jobCount() > 0
    if (best === undefined || !assign(best, job)) queue.push(job)
    if (waits) scheduleBalance()
  }
  const steal = (thread: ScheduledThread<J>, cost: RemoteCost) => {
    const busiest = threadsOf(cost).reduce(
      (most, other) => (other.reader.jobCount() > most.reader.jobCount() ? other : most),
      thread,
    )
    for (let take = busiest.reader.jobCount() >> 1; take > 0; take--) {
      const job = busiest.reader.withdrawLast()
      if (job === undefined) return
      if (!assign(thread, job)) enqueue(job)
    }
  }
  const refill = (thread: ScheduledThread<J>) => {
    const { cost } = thread
    if (cost === undefined || stopped) return
    while (isFree(thread)) {
      const job = takeNext(cost, thread)
      if (job === undefined) break
      if (!assign(thread, job)) return queues[cost].putBack([job])
    }
    if (queues[cost].size() > 0 || thread.reader.jobCount() > 0 || !isFree(thread)) return
    steal(thread, cost)
  }
  const refillAll = () => {
    for (const thread of threads) refill(thread)
  }
  const putBack = (jobs: readonly J[]) => {
    for (const cost of COSTS) queues[cost].putBack(jobs.filter((job) => job.cost === cost))
    if (jobs.length > 0) scheduleBalance()
  }
  const idleSpare = () => {
    for (const thread of threads) {
      if (thread.cost === undefined && thread.reader.ready && thread.reader.jobCount() === 0) return thread
    }
    return undefined
  }
  const exchangeForSpare = (thread: ScheduledThread<J>) => {
    const spare = idleSpare()
    if (spare === undefined || thread.cost === undefined) return
    putBack(thread.reader.withdrawAll().waiting)
    spare.cost = thread.cost
    thread.cost = undefined
    refill(spare)
  }

  /** Returns the clients that wait for their first thread while long requests of others occupy all threads, or
   *  threads are starting. */
  const starvingClients = (cost: RemoteCost) => {
    if (!threadsOf(cost).every((thread) => !thread.reader.ready || isStalled(thread))) return []
    const queue = queues[cost]
    const now = performance.now()
    return [...queue.clients()].filter(
      (client) => now - queue.first(client)!.queuedMs >= BALANCE_MS && countAvailable(cost, client) === 0,
    )
  }
  /** Tries the first call of each starving client in the quick queue, one at a time. */
  const tryCalls = () => {
    for (const client of starvingClients('evm')) {
      const job = queues.evm.first(client)!
      if (queues.quick.first(client) !== undefined || countAvailable('quick', client) > 0) continue
      const tryMs = grantQuickCall(job)
      if (tryMs === undefined) continue
      queues.evm.remove(job)
      enqueue(Object.assign(job, { cost: 'quick', tryMs }))
    }
  }
  /** True while no thread of the quick queue can take a request within its time. */
  const isQuickStuck = () =>
    threadsOf('quick').every(({ reader }) => {
      const [job] = reader.jobs()
      const begunMs = job && reader.begunMs(job)
      return !reader.ready || (begunMs !== undefined && performance.now() - begunMs > (job.tryMs ?? 0) + STUCK_MS)
    })
  /** Moves what waits for a stuck quick queue to the class of its method. */
  const leaveQuick = () => {
    if (queues.quick.size() === 0 || !isQuickStuck()) return
    for (let job = queues.quick.take(); job !== undefined; job = queues.quick.take()) {
      enqueue(Object.assign(job, { cost: job.ownCost, tryMs: undefined }))
    }
  }

  /** Lends the spare to a client of a class that waits for its first thread, replacing the thread of the client that
   *  occupies the most. */
  const lendSpare = (cost: RemoteCost) => {
    if (starvingClients(cost).length === 0) return
    const own = threadsOf(cost)
    const holdings = own.map((thread) => {
      const [job] = thread.reader.jobs()
      return { thread, held: job ? countAvailable(cost, job.client) : 0 }
    })
    const [greediest] = holdings.toSorted((a, b) => b.held - a.held)
    if (greediest !== undefined) exchangeForSpare(greediest.thread)
  }

  /** Withdraws requests that wait behind a long one, or behind another client's, and schedules them again. */
  const balance = () => {
    balancing = undefined
    if (stopped) return
    const now = performance.now()
    for (const cost of COSTS) {
      const own = threadsOf(cost)
      const clients = new Set(queues[cost].clients())
      for (const { reader } of own) for (const job of reader.jobs()) clients.add(job.client)
      for (const thread of own) {
        const [, second] = thread.reader.jobs()
        if (second === undefined || now - second.assignedMs < BALANCE_MS) continue
        if (clients.size > 1 || isStalled(thread)) putBack(thread.reader.withdrawAll().waiting)
      }
      for (const thread of own) refill(thread)
      if (cost === 'quick') leaveQuick()
      else if (clients.size > 1) {
        if (cost === 'evm') tryCalls()
        lendSpare(cost)
      }
      if (queues[cost].size() > 0 || own.some(({ reader }) => reader.jobCount() > 1)) scheduleBalance()
    }
  }
  return {
    enqueue,
    refill,
    refillAll,
    putBack,
    exchangeForSpare,
    withdraw(job) {
      if (queues[job.cost].remove(job)) return true
      for (const { reader } of threads) if (reader.has(job)) return reader.withdraw(job)
      return false
    },
    withdrawClient(client) {
      const assigned = [...threads].flatMap(({ reader }) =>
        [...reader.jobs()].filter((job) => job.client === client && reader.withdraw(job)),
      )
      return [...COSTS.flatMap((cost) => queues[cost].takeAll(client)), ...assigned]
    },
    clients() {
      const clients = new Set<ClientId>(COSTS.flatMap((cost) => [...queues[cost].clients()]))
      for (const { reader } of threads) for (const { client } of reader.jobs()) clients.add(client)
      return clients
    },
    waiting: (cost) => queues[cost].size(),
    takeFromGreediest: (cost) => queues[cost].takeFromGreediest(),
    drain: () =>
      COSTS.flatMap((cost) => {
        const jobs: J[] = []
        for (let job = queues[cost].take(); job !== undefined; job = queues[cost].take()) jobs.push(job)
        return jobs
      }),
    stop() {
      stopped = true
      clearTimeout(balancing)
    },
  }
}
