import type { Deadline } from '../../lib/deadline.js'
import { Interruption } from '../../lib/errors.js'
import { createGenerationCache } from '../../lib/generationCache.js'

/** Milliseconds that a `scan` request gets in the quick lane. Selective log queries take 0.2 to 1.5. */
export const QUICK_MS = 8

/** Milliseconds for a key whose requests mostly finish: the thread may lose its core for some milliseconds. */
export const KNOWN_QUICK_MS = 16

/** Milliseconds of the second try of a request whose key mostly finishes. Behind long requests it would wait for
 *  seconds. */
export const SECOND_TRY_MS = 64

/** A request did not finish in the quick lane. */
export class NotQuick extends Interruption {
  constructor() {
    super('the request needs more time than the quick lane has')
  }
}

/** Returns the deadline of a request that is tried for `tryMs`. Its `check` throws NotQuick after that. */
export function quickDeadline(deadline: Deadline, tryMs: number): Deadline {
  const end = performance.now() + tryMs
  return {
    ...deadline,
    check() {
      if (performance.now() > end) throw new NotQuick()
      deadline.check()
    },
  }
}

/** Number of keys whose last outcome is kept. */
const MAX_KEYS = 8192

// Weight of the newest outcome, and the share of finished requests at which a key counts as quick.
const NEWEST = 0.5
const MOSTLY = 0.5

/** Requests of a key that skip the lane after the second abort in a row; doubles with each further one. */
const FIRST_PAUSE = 4
const MAX_PAUSE = 1024

/** Milliseconds that an `evm` request gets in the quick lane, once all threads for calls are busy with long ones of
 *  other clients. */
export const QUICK_CALL_MS = 64

/** Decides which requests are tried in the quick lane, and for how long. */
export interface QuickLanePolicy<K> {
  /** Returns the milliseconds for a request with that key; undefined if it should not be tried. */
  grant(key: K): number | undefined
  /** Returns the milliseconds for another try of a request that was noted as not finished; undefined if it should
   *  leave the lane. */
  grantAgain(key: K): number | undefined
  /** Records whether a tried request finished in time. */
  note(key: K, finished: boolean): void
}

/** Creates a policy without history: unknown keys are tried, and keys whose requests were aborted are tried rarely,
 *  from `leniency` further aborts in a row on. */
export function createQuickLanePolicy<K = string>(leniency = 1): QuickLanePolicy<K> {
  const keys = createGenerationCache<K, { finished: number; failures: number; pause: number }>({
    maxBytes: 2 * MAX_KEYS,
    sizeOf: () => 1,
  })
  return {
    grant(key) {
      const known = keys.get(key)
      if (known === undefined) return QUICK_MS
      if (known.pause === 0) return known.finished >= MOSTLY ? KNOWN_QUICK_MS : QUICK_MS
      known.pause--
      return undefined
    },
    grantAgain: (key) => ((keys.get(key)?.finished ?? 0) >= MOSTLY ? SECOND_TRY_MS : undefined),
    note(key, finished) {
      const share = Number(finished)
      let known = keys.get(key)
      if (known === undefined) {
        known = { finished: share, failures: 0, pause: 0 }
        keys.set(key, known)
      }
      known.finished += (share - known.finished) * NEWEST
      known.failures = finished ? 0 : known.failures + 1
      const counted = known.failures - leniency
      known.pause = counted < 1 ? 0 : Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (counted - 1))
    },
  }
}
