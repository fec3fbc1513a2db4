import { messageOf } from './errors.js'
import type { Logger } from './logger.js'

/** Logs a failure that goes on once, and once more when it is over. */
export interface FailureLog {
  failed(error: unknown): void
  worked(): void
}

/** Failures of what `subject` names: `cannot be read` and `can be read again` follow it. */
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
