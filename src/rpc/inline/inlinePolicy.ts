import { createGenerationCache } from '../../lib/generationCache.js'

/** Names whose times are remembered. */
const MAX_NAMES = 8192

/** What handing a call to a thread and taking its outcome takes of the main thread. */
const HAND_OVER_MS = 0.06

/** Up to here a call is run on the main thread whatever the threads do: it would take about as much of it otherwise. */
const SMALL_MS = 0.1

/** Time for a call of which nothing is known, and for small ones: most calls take a tenth of it. */
export const SMALL_BUDGET_MS = 0.5

/** Time for calls that are larger, while nobody waits: a request that comes meanwhile waits for no longer than that. */
export const LARGE_BUDGET_MS = 2.5

/** What calls in one turn of the event loop may take together, beyond what handing them over would. */
const TURN_MS = 2

/** Share of the time that may go into calls that are broken off, and the most of it that is saved up. */
const WASTE_SHARE = 0.05
const MAX_WASTE_MS = 10

/** Calls of a name that are not tried after a second one in a row was broken off; twice as many after each other. The first
 *  ones of a process run slowly, and so does any that the system interrupts. */
const FIRST_PAUSE = 1
const MAX_PAUSE = 256

/** Calls that a thread should have before it: what it has answered waits for the main thread, and it must not wait meanwhile. */
const MAX_JOBS = 4

// Weight of the newest time in the mean.
const NEWEST = 0.2

/** What a call needs to know about the threads. */
export interface ThreadLoad {
  /** Calls that the threads were handed and have not answered. */
  jobs(): number
  readonly threads: number
}

/** Decides which calls run on the main thread, and for how long. */
export interface InlinePolicy {
  /** Milliseconds that a call of that name may take; undefined when a thread is to run it. */
  grant(name: string): number | undefined
  /** Says what a call took that was granted time: whether it was done, and how long it took. */
  note(name: string, done: boolean, tookMs: number): void
  /** Says that a turn of the event loop is over. */
  endTurn(): void
}

interface Known {
  /** Mean of what calls of the name took; what was not enough, after one that was broken off. */
  meanMs: number
  /** Calls that were broken off since the last one that was done. */
  failures: number
  /** Calls to come that are not tried. */
  pause: number
}

/** A policy that begins without knowledge. `now` gives milliseconds. */
export function createInlinePolicy(load: ThreadLoad, now: () => number = () => performance.now()): InlinePolicy {
  const names = createGenerationCache<string, Known>({ maxBytes: 2 * MAX_NAMES, sizeOf: () => 1 })
  let spentMs = 0 // in this turn
  let largerNow = 0
  let largerBefore = 0
  let wasteMs = MAX_WASTE_MS // that is left
  let wasteAt = now()

  const mayWaste = () => {
    const at = now()
    wasteMs = Math.min(MAX_WASTE_MS, wasteMs + (at - wasteAt) * WASTE_SHARE)
    wasteAt = at
    return wasteMs > 0
  }
  /** Calls come one by one, or all threads have enough to do. */
  const isFree = () => (largerNow === 1 && largerBefore <= 1) || load.jobs() >= MAX_JOBS * load.threads
  return {
    grant(name) {
      const known = names.get(name)
      if (known === undefined) return spentMs < TURN_MS && mayWaste() ? SMALL_BUDGET_MS : undefined
      if (known.meanMs > SMALL_MS) largerNow++
      if (known.pause > 0) {
        known.pause--
        return undefined
      }
      if (spentMs >= TURN_MS || (known.failures > 0 && !mayWaste())) return undefined
      if (known.meanMs <= SMALL_MS) return SMALL_BUDGET_MS
      return isFree() ? LARGE_BUDGET_MS : undefined
    },
    note(name, done, tookMs) {
      spentMs += Math.max(0, tookMs - HAND_OVER_MS)
      let known = names.get(name)
      if (known === undefined) {
        known = { meanMs: tookMs, failures: 0, pause: 0 }
        names.set(name, known)
      }
      if (done) {
        known.meanMs += (tookMs - known.meanMs) * NEWEST
        known.failures = 0
      } else {
        known.meanMs = Math.max(known.meanMs, tookMs)
        known.pause = Math.min(MAX_PAUSE, FIRST_PAUSE * (2 ** known.failures - 1))
        known.failures++
        wasteMs -= tookMs
      }
    },
    endTurn() {
      spentMs = 0
      largerBefore = largerNow
      largerNow = 0
    },
  }
}
