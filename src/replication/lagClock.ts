/** Measures how long blocks wait. */
export interface LagClock {
  /** Returns the whole seconds since the oldest block above `own` was first seen to exist, 0 without one. `newest`
   *  is the newest block that exists. Call it several times a second: a block counts from the call that names it. */
  seconds(own: number, newest: number): number
}

/** Creates a clock over block numbers. `nowMs`: monotonic, default `performance.now`. */
export function createLagClock(nowMs: () => number = () => performance.now()): LagClock {
  // Ascending in both members.
  const seen: { newest: number; sinceMs: number }[] = []
  return {
    seconds(own, newest) {
      let reorgedMs: number | undefined
      while (seen.length > 0 && seen[0].newest <= own) seen.shift()
      while (seen.length > 0 && seen.at(-1)!.newest > newest) reorgedMs = seen.pop()!.sinceMs
      if (newest <= own) return 0
      if (newest > (seen.at(-1)?.newest ?? own)) seen.push({ newest, sinceMs: reorgedMs ?? nowMs() })
      return Math.floor((nowMs() - seen[0].sinceMs) / 1000)
    },
  }
}
