/** Time of the main thread that all batches together may take in one turn of the event loop, before other requests are read
 *  and answered. */
const TURN_MS = 5

/** After this long within a turn, another batch goes on, so that a short one does not wait for many long ones. */
const SLICE_MS = 1

/** The part of one batch in the time that batches share. */
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
  let turnEndMs = 0
  let inTurn = false

  const beginTurn = () => {
    if (inTurn) return
    inTurn = true
    turnEndMs = now() + TURN_MS
    setImmediate(() => {
      inTurn = false
      if (waiting.length === 0) return
      beginTurn()
      wakeNext()
    })
  }
  const wakeNext = () => {
    if (waiting.length > 0 && now() < turnEndMs) waiting.shift()!()
  }
  return {
    join() {
      let startMs: number | undefined // undefined while it does not run
      const mayBegin = (nowMs: number) => {
        if (nowMs >= turnEndMs) return false
        return waiting.length === 0 || (startMs !== undefined && nowMs - startMs < SLICE_MS)
      }
      return {
        wait() {
          beginTurn()
          const nowMs = now()
          if (mayBegin(nowMs)) {
            startMs ??= nowMs
            return undefined
          }
          return new Promise((resolve) => {
            waiting.push(() => {
              startMs = now()
              resolve()
            })
            wakeNext()
          })
        },
        leave() {
          startMs = undefined
          wakeNext()
        },
      }
    },
  }
}
