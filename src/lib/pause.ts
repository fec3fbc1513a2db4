/** Gives the event loop a turn when the last one is `everyMs` ago, which signals and timers need: promises alone never
 *  let them in. Call it between slices of long work; it returns undefined when none is due. */
export type Pause = () => Promise<void> | undefined

/** A pause that is due for the first time `everyMs` from now. */
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
