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

interface SchedulerOptions<J extends ScheduledJob> {
  /** The living threads: the pool adds to them and removes from them. */
  readonly threads: ReadonlySet<ScheduledThread<J>>
  /** Threads of each class. */
  readonly wanted: Record<RemoteCost, number>
  /** Called for a request that cannot be assigned. */
  onRefused(job: J, error: unknown): void
  /** Milliseconds to try a call in the quick queue, if it should be. */
  grantQuickCall(job: J): number | undefined
}

/** Decides which thread runs which request, and when. Clients take turns; while several wait, each gets at most half of
 *  the threads of the class. If long requests of others occupy all threads, the spare is lent to a client without a
 *  thread. */
export class Scheduler<J extends ScheduledJob> {
  readonly #options: SchedulerOptions<J>
  readonly #threads: ReadonlySet<ScheduledThread<J>>
  readonly #queues = { scan: createFairQueue<J>(), evm: createFairQueue<J>(), quick: createFairQueue<J>() }
  #balancing: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: SchedulerOptions<J>) {
    this.#options = options
    this.#threads = options.threads
  }

  /** Assigns a request to the least busy thread, or enqueues it. */
  enqueue(job: J): void {
    const queue = this.#queues[job.cost]
    const best = queue.size() === 0 ? this.#leastBusy(job) : undefined
    const waits = best === undefined || best.reader.jobCount() > 0
    if (best === undefined || !this.#assign(best, job)) queue.push(job)
    if (waits) this.#scheduleBalance()
  }

  /** Assigns queued requests to a thread; if the queue is empty and the thread is idle, steals half of those queued
   *  behind others. A thread that was removed gets none: it may still answer its last request. */
  refill(thread: ScheduledThread<J>): void {
    const { cost } = thread
    if (cost === undefined || this.#isStopped || !this.#threads.has(thread)) return
    while (isFree(thread)) {
      const job = this.#takeNext(cost, thread)
      if (job === undefined) break
      if (this.#assign(thread, job)) continue
      this.#queues[cost].putBack([job])
      return
    }
    if (this.#queues[cost].size() > 0 || thread.reader.jobCount() > 0 || !isFree(thread)) return
    this.#steal(thread, cost)
  }

  refillAll(): void {
    for (const thread of this.#threads) this.refill(thread)
  }

  /** Puts requests that a thread has not started back into the queue of their class. */
  putBack(jobs: readonly J[]): void {
    for (const cost of COSTS) this.#queues[cost].putBack(jobs.filter((job) => job.cost === cost))
    if (jobs.length > 0) this.#scheduleBalance()
  }

  /** Swaps a thread with an idle spare, if any. If the thread stops by itself, it becomes the next spare. */
  exchangeForSpare(thread: ScheduledThread<J>): void {
    const spare = [...this.#threads].find(
      ({ cost, reader }) => cost === undefined && reader.ready && reader.jobCount() === 0,
    )
    if (spare === undefined || thread.cost === undefined) return
    this.putBack(thread.reader.withdrawAll().waiting)
    spare.cost = thread.cost
    thread.cost = undefined
    this.refill(spare)
  }

  /** Removes a request that no thread has started; false if one has. */
  withdraw(job: J): boolean {
    if (this.#queues[job.cost].remove(job)) return true
    for (const { reader } of this.#threads) if (reader.has(job)) return reader.withdraw(job)
    return false
  }

  /** Removes and returns all requests of a client that no thread has started. */
  withdrawClient(client: ClientId): J[] {
    const assigned = [...this.#threads].flatMap(({ reader }) =>
      [...reader.jobs()].filter((job) => job.client === client && reader.withdraw(job)),
    )
    return [...COSTS.flatMap((cost) => this.#queues[cost].takeAll(client)), ...assigned]
  }

  /** Clients with requests. */
  clients(): Set<ClientId> {
    const clients = new Set<ClientId>(COSTS.flatMap((cost) => [...this.#queues[cost].clients()]))
    for (const { reader } of this.#threads) for (const { client } of reader.jobs()) clients.add(client)
    return clients
  }

  /** True if a thread of the class has nothing to do, and no request of the class waits. */
  hasIdle(cost: RemoteCost): boolean {
    const isIdle = ({ reader }: ScheduledThread<J>) => reader.ready && reader.jobCount() === 0
    return this.#queues[cost].size() === 0 && !this.#isStopped && this.#threadsOf(cost).some(isIdle)
  }

  /** Number of requests of a class that wait for a thread. */
  waiting(cost: RemoteCost): number {
    return this.#queues[cost].size()
  }

  /** Removes and returns the newest waiting request of the client with the most. */
  takeFromGreediest(cost: RemoteCost): J | undefined {
    return this.#queues[cost].takeFromGreediest()
  }

  /** Removes and returns all waiting requests. */
  drain(): J[] {
    return COSTS.flatMap((cost) => {
      const jobs: J[] = []
      for (let job = this.#queues[cost].take(); job !== undefined; job = this.#queues[cost].take()) jobs.push(job)
      return jobs
    })
  }

  /** Stops assigning requests. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#balancing)
  }

  #threadsOf(cost: RemoteCost): ScheduledThread<J>[] {
    return [...this.#threads].filter((thread) => thread.cost === cost)
  }

  /** Returns the number of threads with requests of a client, except one thread. */
  #countOccupied(cost: RemoteCost, client: ClientId, except?: ScheduledThread<J>): number {
    let occupied = 0
    for (const thread of this.#threads) {
      if (thread === except) continue
      for (const job of thread.reader.jobs()) {
        if (job.client !== client || job.cost !== cost) continue
        occupied++
        break
      }
    }
    return occupied
  }

  /** True while a spare finishes a request of the class. */
  #isLent(cost: RemoteCost): boolean {
    for (const thread of this.#threads) {
      if (thread.cost !== undefined) continue
      for (const job of thread.reader.jobs()) if (job.cost === cost) return true
    }
    return false
  }

  /** Returns the free thread with the fewest requests that may run this one; undefined without one. */
  #leastBusy(job: J): ScheduledThread<J> | undefined {
    const { wanted } = this.#options
    const mayTake = !this.#isLent(job.cost)
    let best: ScheduledThread<J> | undefined
    for (const thread of this.#threads) {
      if (thread.cost !== job.cost || !isFree(thread)) continue
      if (!mayTake && this.#countOccupied(job.cost, job.client, thread) >= wanted[job.cost]) continue
      if (best === undefined || thread.reader.jobCount() < best.reader.jobCount()) best = thread
    }
    return best
  }

  #takeNext(cost: RemoteCost, thread: ScheduledThread<J>): J | undefined {
    const queue = this.#queues[cost]
    const wanted = this.#options.wanted[cost]
    const severalWait = queue.clientCount() > 1
    if (!severalWait && !this.#isLent(cost)) return queue.take()
    const share = severalWait ? Math.max(1, wanted >> 1) : wanted
    const isWithin = (limit: number) => (client: ClientId) => this.#countOccupied(cost, client, thread) < limit
    return queue.take(isWithin(share)) ?? queue.take(isWithin(wanted))
  }

  /** Assigns a request. False if the thread has no free slot. */
  #assign(thread: ScheduledThread<J>, job: J): boolean {
    try {
      if (thread.reader.assign(job)) {
        job.assignedMs = performance.now()
        return true
      }
      // The thread is still skipping withdrawn requests, which produce no outcome.
      if (thread.reader.jobCount() === 0) setImmediate(() => this.refill(thread))
      return false
    } catch (error) {
      this.#options.onRefused(job, error)
      return true
    }
  }

  #steal(thread: ScheduledThread<J>, cost: RemoteCost): void {
    const busiest = this.#threadsOf(cost).reduce(
      (most, other) => (other.reader.jobCount() > most.reader.jobCount() ? other : most),
      thread,
    )
    for (let take = busiest.reader.jobCount() >> 1; take > 0; take--) {
      const job = busiest.reader.withdrawLast()
      if (job === undefined) return
      if (!this.#assign(thread, job)) this.enqueue(job)
    }
  }

  #scheduleBalance(): void {
    if (!this.#isStopped) this.#balancing ??= setTimeout(() => this.#balance(), BALANCE_MS).unref()
  }

  /** Withdraws requests that wait behind a long one, or behind another client's, and schedules them again. */
  #balance(): void {
    this.#balancing = undefined
    if (this.#isStopped) return
    const now = performance.now()
    for (const cost of COSTS) {
      const own = this.#threadsOf(cost)
      const clients = new Set(this.#queues[cost].clients())
      for (const { reader } of own) for (const job of reader.jobs()) clients.add(job.client)
      for (const thread of own) {
        const [, second] = thread.reader.jobs()
        if (second === undefined || now - second.assignedMs < BALANCE_MS) continue
        if (clients.size > 1 || isStalled(thread)) this.putBack(thread.reader.withdrawAll().waiting)
      }
      for (const thread of own) this.refill(thread)
      if (cost === 'quick') this.#leaveQuick()
      else if (clients.size > 1) {
        if (cost === 'evm') this.#tryCalls()
        this.#lendSpare(cost)
      }
      if (this.#queues[cost].size() > 0 || own.some(({ reader }) => reader.jobCount() > 1)) this.#scheduleBalance()
    }
  }

  /** Returns the clients that wait for their first thread while long requests of others occupy all threads, or
   *  threads are starting. */
  #starvingClients(cost: RemoteCost): ClientId[] {
    if (!this.#threadsOf(cost).every((thread) => !thread.reader.ready || isStalled(thread))) return []
    const queue = this.#queues[cost]
    const now = performance.now()
    return [...queue.clients()].filter(
      (client) => now - queue.first(client)!.queuedMs >= BALANCE_MS && this.#countOccupied(cost, client) === 0,
    )
  }

  /** Tries the first call of each starving client in the quick queue, one at a time. */
  #tryCalls(): void {
    const { evm, quick } = this.#queues
    for (const client of this.#starvingClients('evm')) {
      const job = evm.first(client)!
      if (quick.first(client) !== undefined || this.#countOccupied('quick', client) > 0) continue
      const tryMs = this.#options.grantQuickCall(job)
      if (tryMs === undefined) continue
      evm.remove(job)
      this.enqueue(Object.assign(job, { cost: 'quick', tryMs }))
    }
  }

  /** Moves what waits for a quick queue, none of whose threads can take a request within its time, to the class of its
   *  method. */
  #leaveQuick(): void {
    const { quick } = this.#queues
    if (quick.size() === 0 || !this.#threadsOf('quick').every(isQuickStuck)) return
    for (let job = quick.take(); job !== undefined; job = quick.take()) {
      this.enqueue(Object.assign(job, { cost: job.ownCost, tryMs: undefined }))
    }
  }

  /** Lends the spare to a client of a class that waits for its first thread, replacing the thread of the client that
   *  occupies the most. */
  #lendSpare(cost: RemoteCost): void {
    if (this.#starvingClients(cost).length === 0) return
    const shares = this.#threadsOf(cost).map((thread) => {
      const [job] = thread.reader.jobs()
      return { thread, occupied: job ? this.#countOccupied(cost, job.client) : 0 }
    })
    const [greediest] = shares.toSorted((a, b) => b.occupied - a.occupied)
    if (greediest !== undefined) this.exchangeForSpare(greediest.thread)
  }
}

function isFree<J extends ScheduledJob>(thread: ScheduledThread<J>): boolean {
  const { reader, cost } = thread
  if (!reader.ready || cost === undefined) return false
  const jobs = reader.jobCount()
  return jobs === 0 || (jobs < MAX_JOBS[cost] && !isStalled(thread))
}

/** True for a thread with a long request: no other should wait behind it. */
function isStalled<J extends ScheduledJob>({ reader }: ScheduledThread<J>): boolean {
  const [job] = reader.jobs()
  const begunMs = job && reader.begunMs(job)
  return begunMs !== undefined && performance.now() - begunMs >= BALANCE_MS
}

/** True while a thread of the quick queue cannot take a request within its time. */
function isQuickStuck<J extends ScheduledJob>({ reader }: ScheduledThread<J>): boolean {
  const [job] = reader.jobs()
  const begunMs = job && reader.begunMs(job)
  return !reader.ready || (begunMs !== undefined && performance.now() - begunMs > (job!.tryMs ?? 0) + STUCK_MS)
}
