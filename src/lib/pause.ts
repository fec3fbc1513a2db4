/** Yields to the event loop: signals, timers and sockets are handled before it resolves. Promises alone starve them. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Yields to the event loop if the last yield was `everyMs` ago. Call it between slices of long work; returns undefined
 *  if none is due. */
type Pause = () => Promise<void> | undefined

/** Creates a pause that is first due `everyMs` from now. */
export function createPause(everyMs = 50): Pause {
  let lastMs = performance.now()
  return () => {
    if (performance.now() - lastMs < everyMs) return undefined
    return yieldToEventLoop().then(() => {
      lastMs = performance.now()
    })
  }
}
