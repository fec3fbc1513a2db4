/** Schedules the write of a response. */
export type WriteQueue = (write: () => void) => void

/** An writeQueue that writes responses after all received requests are dispatched, one right after another. A write to
 *  a sleeping client wakes it, which takes as long as a small call; the following writes find clients awake. The only
 *  response of an event-loop turn is written at once. */
export function createWriteQueue(): WriteQueue {
  let waiting: (() => void)[] = []
  let inTurn = 0
  let inTurnBefore = 0
  const endTurn = () => {
    inTurnBefore = inTurn
    inTurn = 0
    const now = waiting
    waiting = []
    for (const write of now) write()
  }
  return (write) => {
    if (inTurn === 0) setImmediate(endTurn)
    inTurn++
    if (inTurn === 1 && inTurnBefore <= 1) write()
    else waiting.push(write)
  }
}
