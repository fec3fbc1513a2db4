import type { Deadline } from '../../lib/deadline.js'
import { Interruption } from '../../lib/errors.js'
import type { Pace } from '../interpreter/machine.js'

/** A call needs more than it was given. */
export class OutOfBudget extends Interruption {
  constructor() {
    super('the call needs more than it was given')
  }
}

/** What one call at a time may take of a thread that has other things to do. */
export interface Budget {
  /** Passes when the budget is used up, and before whatever takes long. @throws OutOfBudget */
  readonly deadline: Deadline
  /** Gives so much time from now on, and looks and reads in proportion. */
  begin(timeMs: number): void
  /** Counts a read of the database. @throws OutOfBudget */
  countRead(): void
  /** Times that the interpreter has looked at the deadline since `begin`. */
  looks(): number
}

/** Looks at the clock in so short a time that it never waits for more than some tenths of a millisecond: what works on 64 KB
 *  at once takes 0.2 ms. 256 KB of memory are as much as a result of half a megabyte of text. */
export const BUDGET_PACE: Pace = { frames: 4, bytes: 0x1_0000, precompileGas: 3100, memory: 0x4_0000 }

// However slowly the clock goes: a look is due every 20,000 gas, of which a millisecond of storage reads is some hundreds.
const LOOKS_PER_MS = 500
// A read of what SQLite has in memory takes 4 to 10 µs.
const READS_PER_MS = 128

/** A budget of nothing until it is begun. `now` gives milliseconds. */
export function createBudget(now: () => number = () => performance.now()): Budget {
  let timeMs = 0
  let end = Number.NEGATIVE_INFINITY
  let looks = 0
  let reads = 0
  const check = () => {
    if (++looks > timeMs * LOOKS_PER_MS || now() > end) throw new OutOfBudget()
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
    looks: () => looks,
  }
}
