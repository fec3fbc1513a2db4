/** Yields to the event loop if the last yield was `everyMs` ago: signals and timers need it, promises alone starve
 *  them. Call it between slices of long work; returns undefined if none is due. */
type Pause = () => Promise<void> | undefined

/** Creates a pause that is first due `everyMs` from now. */
export function createPause(everyMs = 50): Pause {
  let lastMs = performance.now()
  return () => {
    if (performance.now() - lastMs < everyMs) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        lastMs = performance.now()
        resolve()
      }),
    )
  }
}
