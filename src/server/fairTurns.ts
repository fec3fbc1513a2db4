import type { ClientId } from '../rpc/core/dispatch.js'
import type { TimeSlices } from '../rpc/core/timeSlices.js'

/** Shares the main thread between clients with many short requests. Without it, 6,000 requests that one client sends at once on
 *  as many connections hold up every other client for 0.3 s. */
export interface FairTurns {
  /** Runs `work` at once, or in one of the next turns of the event loop when the client has had its part of this one. Work of
   *  one client keeps its order; clients take turns. `work` must not throw.
   *  @returns true when it ran. */
  run(client: ClientId | string, work: () => void): boolean
}

/** Requests of one client that begin at once in one turn of the event loop: about 1 ms of small ones. */
const AT_ONCE = 16

/** Turns that take the time of `slices` for what does not begin at once, as one more batch. */
export function createFairTurns(slices: TimeSlices): FairTurns {
  /** How much began at once in this turn. */
  const begun = new Map<ClientId | string, number>()
  /** Waiting work, the client whose turn is next first; no line is empty. */
  const lines = new Map<ClientId | string, (() => void)[]>()
  let isRunning = false

  const endTurn = () => begun.clear()
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
      const line = lines.get(client)
      const count = begun.get(client) ?? 0
      if (line === undefined && count < AT_ONCE) {
        if (begun.size === 0) setImmediate(endTurn)
        begun.set(client, count + 1)
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
