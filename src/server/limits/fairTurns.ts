import type { ClientId } from '../../rpc/core/dispatch.js'
import type { TimeSlices } from '../../rpc/core/timeSlices.js'

/** Shares the main thread between clients with many short requests. Without it, 6,000 requests that one client sends at once on
 *  as many connections hold up every other client for 0.3 s. */
export interface FairTurns {
  /** Runs `work` at once, or in one of the next turns of the event loop when the client has had its part of this one. Work of
   *  one client keeps its order; clients take turns. `work` must not throw.
   *  @returns true when it ran. */
  run(client: ClientId | string, work: () => void): boolean
}

/** Requests that begin at once in one turn of the event loop, whoever sends them, and then of each client: about 1 ms of small
 *  ones. */
const AT_ONCE = 32

/** Turns that take the time of `slices` for what does not begin at once, as one more batch. */
export function createFairTurns(slices: TimeSlices): FairTurns {
  /** How much began in this turn, and of that, what each client began after the first `AT_ONCE`. */
  let total = 0
  const begun = new Map<ClientId | string, number>()
  /** Waiting work, the client whose turn is next first; no line is empty. */
  const lines = new Map<ClientId | string, (() => void)[]>()
  let isRunning = false

  const endTurn = () => {
    if (total > AT_ONCE) begun.clear()
    total = 0
  }
  /** True when the client may begin one more in this turn; the usual turn has few and counts no clients. */
  const mayBegin = (client: ClientId | string) => {
    if (total === 0) setImmediate(endTurn)
    if (++total <= AT_ONCE) return true
    const count = begun.get(client) ?? 0
    begun.set(client, count + 1)
    return count < AT_ONCE
  }
  const runNext = () => {
    const [[client, line]] = lines
    lines.delete(client)
    const work = line.shift()!
    if (line.length > 0) lines.set(client, line)
    work()
  }
  const runWaiting = async () => {
    isRunning = true
    const slice = slices.join()
    while (lines.size > 0) {
      await slice.wait()
      runNext()
    }
    slice.leave()
    isRunning = false
  }
  return {
    run(client, work) {
      const line = lines.size === 0 ? undefined : lines.get(client)
      if (line === undefined && mayBegin(client)) {
        work()
        return true
      }
      if (line === undefined) lines.set(client, [work])
      else line.push(work)
      if (!isRunning) void runWaiting()
      return false
    },
  }
}
