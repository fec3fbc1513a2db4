/** Writes answers, each by a function of its own. */
export type Outbox = (write: () => void) => void

/** An outbox that writes answers once all requests that have come are taken, one right after another. A write to a client that
 *  sleeps wakes it, which takes as long as a small call does; the writes after it find clients awake. While there is one in
 *  a turn of the event loop, it is written at once. */
export function createOutbox(): Outbox {
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
