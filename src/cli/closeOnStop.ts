import { writeNotice } from './terminal.js'

/** From the signal to the end of the process, whatever is under way. */
const HARD_STOP_MS = 5_000

/** Closes a server once `stop` is aborted; resolves when it is closed. Where that takes longer than 5 s since `hardStop` was
 *  aborted, such as for a thread in native code, the process is killed: the database and its write-ahead log stay whole. */
export async function closeOnStop(
  serving: { close(): Promise<void> },
  stop: AbortSignal,
  hardStop: AbortSignal = stop,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = () => {
    timer = setTimeout(() => {
      writeNotice(`not everything stopped within ${HARD_STOP_MS / 1000} s; the process is killed`)
      process.kill(process.pid, 'SIGKILL')
    }, HARD_STOP_MS)
  }
  await new Promise<void>((resolve, reject) => {
    const close = () => {
      if (hardStop.aborted) limit()
      else hardStop.addEventListener('abort', limit)
      serving.close().then(resolve, reject)
    }
    if (stop.aborted) close()
    else stop.addEventListener('abort', close)
  }).finally(() => {
    hardStop.removeEventListener('abort', limit)
    clearTimeout(timer)
  })
}
