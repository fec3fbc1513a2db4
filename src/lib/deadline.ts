import { CairnError } from './errors.js'

/** Work ran past its deadline. `limitMs` is the time that it was given. */
export class DeadlineExceeded extends CairnError {
  readonly limitMs: number
  constructor(limitMs: number) {
    super(`did not finish within ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/** A moment by which work must end, looked at by the work itself at points that it chooses. */
export interface Deadline {
  /** The time that was given, in milliseconds. */
  readonly limitMs: number
  /** Milliseconds left; negative when passed. */
  remainingMs(): number
  /** @throws DeadlineExceeded when the moment has passed. */
  check(): void
  /** Looked at before something that takes long and cannot look at it meanwhile; as `check` when absent. */
  checkBeforeLong?(): void
}

/** A deadline `limitMs` from now, by the monotonic clock. */
export function deadlineAfter(limitMs: number): Deadline {
  return deadlineBetween(limitMs, limitMs)
}

/** A deadline `remainingMs` from now for work that was given `limitMs` when it was asked for. */
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
