import type { ClientId } from '../../rpc/core/dispatch.js'
import type { TimeBudget } from '../../rpc/core/timeBudget.js'

/** The work of one request. */
export interface QueuedWork {
  /** Runs it. Must not throw. */
  begin(): void
}

/** Shares the main thread between clients with many short requests. Without it, 6,000 requests that one client sends at
 *  once on as many connections delay all other clients by 0.3 s. */
export interface RequestQueue {
  /** Runs `work` at once, or in one of the next event-loop turns when the client has used its share of this one. The
   *  work of one client keeps its order; clients take turns.
   *  @returns true when it ran */
  run(client: ClientId | string, work: QueuedWork): boolean
}

/** Requests that start at once per event-loop turn, first in total and then per client: about 1 ms of small
 *  requests. */
const MAX_IMMEDIATE = 32

/** A queue that runs deferred requests within `timeBudget`, as one more batch. */
export function createRequestQueue(timeBudget: TimeBudget): RequestQueue {
  /** Requests started in this turn, and per client those after the first `MAX_IMMEDIATE`. */
  let total = 0
  const begun = new Map<ClientId | string, number>()
  /** Deferred work by client, next client first; no queue is empty. */
  const queues = new Map<ClientId | string, QueuedWork[]>()
  let isRunning = false

  const endTurn = () => {
    if (total > MAX_IMMEDIATE) begun.clear()
    total = 0
  }
  /** True when the client may start another request in this turn. A usual turn has few requests and keeps no count per
   *  client. */
  const mayBegin = (client: ClientId | string) => {
    if (total === 0) setImmediate(endTurn)
    if (++total <= MAX_IMMEDIATE) return true
    const count = begun.get(client) ?? 0
    begun.set(client, count + 1)
    return count < MAX_IMMEDIATE
  }
  const runNext = () => {
    const [[client, queue]] = queues
    queues.delete(client)
    const work = queue.shift()!
    if (queue.length > 0) queues.set(client, queue)
    work.begin()
  }
  const runWaiting = async () => {
    isRunning = true
    const timeShare = timeBudget.join()
    while (queues.size > 0) {
      await timeShare.wait()
      runNext()
    }
    timeShare.leave()
    isRunning = false
  }
  return {
    run(client, work) {
      const queue = queues.size === 0 ? undefined : queues.get(client)
      if (queue === undefined && mayBegin(client)) {
        work.begin()
        return true
      }
      if (queue === undefined) queues.set(client, [work])
      else queue.push(work)
      if (!isRunning) void runWaiting()
      return false
    },
  }
}
