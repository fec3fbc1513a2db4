/** Main-thread time that all batches together may use in one turn of the event loop, before other requests are read and
 *  answered. Short, because libuv accepts one connection in a turn: with 5 ms, the 100th new client waited half a
 *  second. */
const TURN_MS = 1

/** One batch's, or one long body's, share of the time. */
export interface TimeShare {
  /** Call before each item: undefined if it may start now, otherwise resolves when it may. */
  wait(): Promise<void> | undefined
  /** The batch is done, or waits for something else. */
  leave(): void
}

/** Shares main-thread time between batches, round-robin. */
export interface TimeBudget {
  /** Adds a batch. */
  join(): TimeShare
}

/** A time budget; `now` returns milliseconds. */
export function createTimeBudget(now: () => number = () => performance.now()): TimeBudget {
  const waiting: (() => void)[] = []
  /** The running one. With two, each would start an item without checking the time. */
  let current: TimeShare | undefined
  let turnEndMs = 0
  let inTurn = false

  const beginTurn = () => {
    if (inTurn) return
    inTurn = true
    turnEndMs = now() + TURN_MS
    setImmediate(() => {
      inTurn = false
      current = undefined
      if (waiting.length === 0) return
      beginTurn()
      wakeNext()
    })
  }
  const wakeNext = () => {
    if (current === undefined && waiting.length > 0 && now() < turnEndMs) waiting.shift()!()
  }
  return {
    join() {
      const begin = () => {
        current = timeShare
      }
      const timeShare: TimeShare = {
        wait() {
          beginTurn()
          const hasTime = now() < turnEndMs
          if (current === timeShare) {
            if (hasTime) return undefined
            current = undefined
          } else if (hasTime && current === undefined && waiting.length === 0) {
            begin()
            return undefined
          }
          return new Promise((resolve) => {
            waiting.push(() => {
              begin()
              resolve()
            })
            wakeNext()
          })
        },
        leave() {
          if (current !== timeShare) return
          current = undefined
          wakeNext()
        },
      }
      return timeShare
    },
  }
}
