import { createGenerationCache } from '../../lib/generationCache.js'

/** Number of keys whose durations are remembered. */
const MAX_NAMES = 8192

/** Main-thread time for assigning a call to a thread and receiving its result. */
const HAND_OVER_MS = 0.06

/** Calls up to this duration always run inline: assigning them to a thread would cost about as much. */
const SMALL_MS = 0.1

/** Budget of calls with unknown or small duration: most take a tenth of it. */
export const SMALL_BUDGET_MS = 0.5

/** Budget of longer calls while no other request waits; bounds the wait of the next request. */
export const LARGE_BUDGET_MS = 2.5

/** Inline calls share this per event-loop turn, on top of what the handover would have cost. */
const TURN_MS = 2

/** Share of time for aborted calls, and the maximum that can be saved up. */
const WASTE_SHARE = 0.05
const MAX_WASTE_MS = 10

/** Calls of a key that skip the inline attempt after a second abort in a row; doubles with each further one. First runs
 *  in a process are slow, and the system may interrupt any. */
const FIRST_PAUSE = 1
const MAX_PAUSE = 256

/** Queued calls per thread: its results wait for the main thread, and it should not idle meanwhile. */
const MAX_JOBS = 4

// Weight of the newest duration in the mean.
const NEWEST = 0.2

/** Load of the threads. */
export interface ThreadLoad {
  /** Calls assigned to threads and not yet answered. */
  jobs(): number
  readonly threads: number
}

/** Decides which calls run inline, and their budget. */
export interface InlinePolicy {
  /** Budget in milliseconds for a call with that key; undefined if a thread should run it. */
  grant(name: string): number | undefined
  /** Reports a granted call: whether it finished, and its duration. */
  note(name: string, done: boolean, tookMs: number): void
  /** Ends an event-loop turn. */
  endTurn(): void
}

interface Known {
  /** Mean duration of the key's calls; after an abort, the insufficient budget. */
  meanMs: number
  /** Aborts since the last finished call. */
  failures: number
  /** Remaining calls that skip the inline attempt. */
  pause: number
}

/** A policy without history. `now` returns milliseconds. */
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
  /** Calls arrive one by one, or all threads are busy. */
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
