/** Time of the main thread that all batches together may take in one turn of the event loop, before other requests are read
 *  and answered. Short, because libuv accepts one connection in a turn: with 5 ms, the 100th new client waited half a second. */
const TURN_MS = 1

/** The part of one batch, or of one long body, in the time that they share. */
export interface TimeSlice {
  /** Asked before each item: undefined when it may begin now, else it resolves when it may. */
  wait(): Promise<void> | undefined
  /** Says that the batch is done, or waits for something else. */
  leave(): void
}

/** Shares the time of the main thread between batches, which take turns. */
export interface TimeSlices {
  /** For one more batch. */
  join(): TimeSlice
}

/** Time to share. `now` gives milliseconds. */
export function createTimeSlices(now: () => number = () => performance.now()): TimeSlices {
  const waiting: (() => void)[] = []
  /** The one that works. Two would each begin an item without looking at the time. */
  let current: TimeSlice | undefined
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
        current = slice
      }
      const slice: TimeSlice = {
        wait() {
          beginTurn()
          const hasTime = now() < turnEndMs
          if (current === slice) {
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
          if (current !== slice) return
          current = undefined
          wakeNext()
        },
      }
      return slice
    },
  }
}
