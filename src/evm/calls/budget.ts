import type { Deadline } from '../../lib/deadline.js'
import { Interruption } from '../../lib/errors.js'
import type { CheckIntervals } from '../interpreter/machine.js'

/** A call exceeded its inline budget. */
export class OutOfBudget extends Interruption {
  constructor() {
    super('the call needs more than it was given')
  }
}

/** Budget of inline calls, one at a time, on a thread that has other work. */
export interface Budget {
  /** Throws when the budget is used up, and before any operation that takes long. @throws OutOfBudget */
  readonly deadline: Deadline
  /** Starts a budget of `timeMs`; clock checks and database reads scale with it. */
  begin(timeMs: number): void
  /** Counts a database read. @throws OutOfBudget */
  countRead(): void
  /** Deadline checks since `begin`. */
  checks(): number
}

/** Intervals at which a call overruns by a few tenths of a millisecond at most: processing 64 KB at once takes 0.2 ms.
 *  256 KB of memory suffice for a result of half a megabyte of text. */
export const BUDGET_CHECK_INTERVALS: CheckIntervals = {
  frames: 4,
  bytes: 0x1_0000,
  precompileGas: 3100,
  memory: 0x4_0000,
}

// Limits checks regardless of the clock: one is due every 20,000 gas, and a millisecond of storage reads has some
// hundred.
const CHECKS_PER_MS = 500
// A read of pages in SQLite's cache takes 4 to 10 µs.
const READS_PER_MS = 128

/** Creates a budget that is empty until `begin`. `now` returns milliseconds. */
export function createBudget(now: () => number = () => performance.now()): Budget {
  let timeMs = 0
  let end = Number.NEGATIVE_INFINITY
  let looks = 0
  let reads = 0
  const check = () => {
    if (++looks > timeMs * CHECKS_PER_MS || now() > end) throw new OutOfBudget()
  }
  return {
    deadline: {
      get limitMs() {
        return timeMs
      },
      remainingMs: () => end - now(),
      check,
      checkBeforeLong: () => {
        throw new OutOfBudget()
      },
    },
    begin(given) {
      timeMs = given
      end = now() + given
      looks = 0
      reads = 0
    },
    countRead() {
      if (++reads > timeMs * READS_PER_MS || now() > end) throw new OutOfBudget()
    },
    checks: () => looks,
  }
}
