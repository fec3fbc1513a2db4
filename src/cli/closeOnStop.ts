import { restorePriorities } from '../workers/priority.js'
import type { Serving } from './serving.js'
import { writeNotice } from './terminal.js'

/** Max time from the signal to the end of the process. */
const HARD_STOP_MS = 8_000

/** Closes a server once `stop` is aborted and resolves when it is closed. Kills the process if this takes more than 8 s
 *  from the abort of `hardStop`, for example with a thread in native code: the database and its write-ahead log stay
 *  intact. Prints what had not stopped. */
export async function closeOnStop(
  serving: Pick<Serving, 'close' | 'stopping'>,
  stop: AbortSignal,
  hardStop: AbortSignal = stop,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = () => {
    timer = setTimeout(() => {
      const running = [...serving.stopping].join(', ')
      writeNotice(`not stopped within ${HARD_STOP_MS / 1000} s: ${running}; the process is killed`)
      process.kill(process.pid, 'SIGKILL')
    }, HARD_STOP_MS)
  }
  await new Promise<void>((resolve, reject) => {
    const close = () => {
      if (hardStop.aborted) limit()
      else hardStop.addEventListener('abort', limit)
      restorePriorities()
      serving.close().then(resolve, reject)
    }
    if (stop.aborted) close()
    else stop.addEventListener('abort', close)
  }).finally(() => {
    hardStop.removeEventListener('abort', limit)
    clearTimeout(timer)
  })
}
