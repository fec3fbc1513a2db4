import { createFailureLog } from '../../lib/failureLog.js'
import type { Logger } from '../../lib/logger.js'
import type { TransactionFinder } from './finder.js'

// Other work runs between two slices.
const SLICE_MS = 2
const PAUSE_MS = 500

/** Makes a finder load new transactions in slices of 2 ms, so that a lookup has at most half a second of them left to
 *  load. @returns a function that stops it, to be called before the connection is closed. */
export function keepFresh(finder: Pick<TransactionFinder, 'refresh'>, log: Logger): () => void {
  let timer: NodeJS.Timeout
  const failures = createFailureLog(log, 'the transactions behind the index')
  const plan = (ms: number) => {
    timer = setTimeout(refresh, ms)
    timer.unref()
  }
  const refresh = () => {
    try {
      plan(finder.refresh(SLICE_MS) ? PAUSE_MS : 0)
      failures.worked()
    } catch (error) {
      // A lookup will fail the same way, and report it to its caller.
      failures.failed(error)
      plan(PAUSE_MS)
    }
  }
  plan(0)
  return () => clearTimeout(timer)
}
