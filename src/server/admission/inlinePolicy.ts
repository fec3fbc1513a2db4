import { CostPolicy } from '../../rpc/core/costPolicy.js'

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

/** Queued calls per thread: its results wait for the main thread, and it should not idle meanwhile. */
const MAX_JOBS = 4

/** Samples are durations in milliseconds; after an abort, the mean is at least the insufficient budget. One abort is no
 *  reason for a pause: first runs in a process are slow, and the system may interrupt any. */
const RULE = { newest: 0.2, firstPause: 1, maxPause: 256, meanAfterAbort: Math.max }

/** Where other threads accept connections too, calls up to this duration run inline even if others wait: their threads
 *  would only take time from those that accept. */
const SHARED_MS = 0.5

/** Load of the threads. */
export interface ThreadLoad {
  /** Calls assigned to threads and not yet answered. */
  jobs(): number
  readonly threads: number
  /** True if other threads accept connections too. */
  readonly isShared?: boolean
}

/** Decides which calls run inline, and their budget. */
export interface InlinePolicy {
  /** Budget in milliseconds for a call with that key; undefined if a thread should run it. */
  grant(key: string): number | undefined
  /** Reports a granted call: whether it finished, and its duration. */
  note(key: string, finished: boolean, tookMs: number): void
  /** Ends an event-loop turn. */
  endTurn(): void
}

/** A policy without history. `now` returns milliseconds. */
export function createInlinePolicy(load: ThreadLoad, now: () => number = () => performance.now()): InlinePolicy {
  const costs = new CostPolicy(RULE)
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
    grant(key) {
      const known = costs.get(key)
      if (known === undefined) return spentMs < TURN_MS && mayWaste() ? SMALL_BUDGET_MS : undefined
      if (known.mean > SMALL_MS) largerNow++
      if (costs.skips(key) || spentMs >= TURN_MS || (known.failures > 0 && !mayWaste())) return undefined
      if (known.mean <= SMALL_MS) return SMALL_BUDGET_MS
      return isFree() || (load.isShared && known.mean <= SHARED_MS) ? LARGE_BUDGET_MS : undefined
    },
    note(key, finished, tookMs) {
      spentMs += Math.max(0, tookMs - HAND_OVER_MS)
      costs.note(key, finished, tookMs)
      if (!finished) wasteMs -= tookMs
    },
    endTurn() {
      spentMs = 0
      largerBefore = largerNow
      largerNow = 0
    },
  }
}
