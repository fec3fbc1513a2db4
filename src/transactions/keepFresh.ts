import { createFailureLog } from '../lib/failureLog.js'
import type { Logger } from '../lib/logger.js'
import type { TransactionFinder } from './finder.js'

// Between two slices other work gets its turn.
const SLICE_MS = 2
const PAUSE_MS = 500

/** Has a finder take new transactions into memory as they come, in slices of 2 ms, so that a look-up has at most half a
 *  second of them to take. @returns what ends it, to be called before the connection is closed. */
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
      // A look-up will meet the same, and say so to whoever asked.
      failures.failed(error)
      plan(PAUSE_MS)
    }
  }
  plan(0)
  return () => clearTimeout(timer)
}
