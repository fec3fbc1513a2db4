import type { Deadline } from '../../lib/deadline.js'
import { Interruption } from '../../lib/errors.js'
import { CostPolicy } from '../../rpc/core/costPolicy.js'

/** Milliseconds that a `scan` request gets in the quick queue. Selective log queries take 0.2 to 1.5. */
export const QUICK_MS = 8

/** Milliseconds for a key whose requests mostly finish: the thread may lose its core for some milliseconds. */
export const KNOWN_QUICK_MS = 16

/** Milliseconds of the second try of a request whose key mostly finishes. Behind long requests it would wait for
 *  seconds. */
export const SECOND_TRY_MS = 64

/** A request did not finish in the quick queue. */
export class NotQuick extends Interruption {
  constructor() {
    super('the request needs more time than the quick queue has')
  }
}

/** Returns the deadline of a request that is tried for `tryMs`. Its `check` throws NotQuick after that, and its
 *  `checkAhead` before work that would end after that. */
export function quickDeadline(deadline: Deadline, tryMs: number): Deadline {
  const end = performance.now() + tryMs
  return {
    ...deadline,
    check() {
      if (performance.now() > end) throw new NotQuick()
      deadline.check()
    },
    checkAhead(ms) {
      if (performance.now() + ms > end) throw new NotQuick()
    },
  }
}

/** Samples are 1 for a request that finished in time and 0 for another. */
const RULE = { newest: 0.5, firstPause: 4, maxPause: 1024 }

/** Share of finished requests at which a key counts as quick. */
const MOSTLY = 0.5

/** Milliseconds that an `evm` request gets in the quick queue, once all threads for calls are busy with long ones of
 *  other clients. */
export const QUICK_CALL_MS = 64

/** Decides which requests are tried in the quick queue, and for how long. */
export interface QuickPolicy<K> {
  /** Returns the milliseconds for a request with that key; undefined if it should not be tried. */
  grant(key: K): number | undefined
  /** Returns the milliseconds for another try of a request that was noted as not finished; undefined if it should
   *  leave the queue. */
  grantAgain(key: K): number | undefined
  /** Records whether a tried request finished in time. */
  note(key: K, finished: boolean): void
}

/** Creates a policy without history: unknown keys are tried, and keys whose requests were aborted are tried rarely,
 *  from `leniency` further aborts in a row on. */
export function createQuickPolicy<K = string>(leniency = 1): QuickPolicy<K> {
  const costs = new CostPolicy<K>({ ...RULE, leniency })
  const isMostlyQuick = (key: K) => (costs.get(key)?.mean ?? 0) >= MOSTLY
  return {
    grant(key) {
      if (costs.skips(key)) return undefined
      return isMostlyQuick(key) ? KNOWN_QUICK_MS : QUICK_MS
    },
    grantAgain: (key) => (isMostlyQuick(key) ? SECOND_TRY_MS : undefined),
    note: (key, finished) => costs.note(key, finished, Number(finished)),
  }
}
