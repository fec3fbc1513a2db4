import { messageOf } from './errors.js'
import type { Logger } from './logger.js'

/** Logs a lasting failure once, and its end once. */
export interface FailureLog {
  failed(error: unknown): void
  worked(): void
}

/** Creates a log of failures of `subject`; messages append `cannot be read` and `can be read again`. */
export function createFailureLog(log: Logger, subject: string): FailureLog {
  let failing = false
  return {
    failed(error) {
      if (!failing) log.error({ error: messageOf(error) }, `${subject} cannot be read`)
      failing = true
    },
    worked() {
      if (failing) log.info({}, `${subject} can be read again`)
      failing = false
    },
  }
}
