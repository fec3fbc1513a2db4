import { CairnError } from './errors.js'

/** Work ran past its deadline. `limitMs` is its time limit. */
export class DeadlineExceeded extends CairnError {
  readonly limitMs: number
  constructor(limitMs: number) {
    super(`did not finish within ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/** A time limit that the work itself checks at points it chooses. */
export interface Deadline {
  /** The time limit in milliseconds. */
  readonly limitMs: number
  /** Milliseconds left; negative after the deadline. */
  remainingMs(): number
  /** @throws DeadlineExceeded after the deadline. */
  check(): void
  /** Checked before long operations that cannot check in between; default: `check`. */
  checkBeforeLong?(): void
  /** Checked before work of about `ms` milliseconds. Throws when that work should run under another deadline; default:
   *  does nothing. */
  checkAhead?(ms: number): void
}

/** A deadline `limitMs` from now, by the monotonic clock. */
export function deadlineAfter(limitMs: number): Deadline {
  return deadlineBetween(limitMs, limitMs)
}

/** A deadline `remainingMs` from now, for work with a limit of `limitMs` that started earlier. */
export function deadlineBetween(limitMs: number, remainingMs: number): Deadline {
  const end = performance.now() + remainingMs
  return {
    limitMs,
    remainingMs: () => end - performance.now(),
    check: () => {
      if (performance.now() > end) throw new DeadlineExceeded(limitMs)
    },
  }
}

/** A deadline that never passes. */
export const noDeadline: Deadline = {
  limitMs: Number.POSITIVE_INFINITY,
  remainingMs: () => Number.POSITIVE_INFINITY,
  check: () => {},
}
