import { closeSync, openSync, write } from 'node:fs'
import { pino } from 'pino'
import { messageOf, UsageError } from '../../lib/errors.js'
import type { Metrics } from '../../lib/metrics.js'

/** One line for each request. */
export interface AccessLog {
  write(fields: object): void
  /** Reopens the file by its name, after it was renamed. Keeps the old file if the new one cannot be opened. */
  reopen(): void
  /** Writes the waiting lines, for at most two seconds. */
  close(): Promise<void>
}

/** Bytes of lines that wait for the disk. Beyond that, new lines are dropped and counted. */
const MAX_WAITING_BYTES = 4_000_000

const CLOSE_MS = 2000
const RETRY_MS = 10

/** An access log in a file, or on standard output for `-`. Lines are JSON. Writing never blocks the main thread.
 *  @throws UsageError when the file cannot be opened */
export function createAccessLog(path: string, metrics: Metrics): AccessLog {
  const open = () => (path === '-' ? 1 : openSync(path, 'a', 0o640))
  let fd: number
  try {
    fd = open()
  } catch (error) {
    throw new UsageError(`--access-log ${path}: ${messageOf(error)}`)
  }
  let waiting: string[] = []
  let waitingBytes = 0
  let isWriting = false
  let reopens = false
  let onIdle: (() => void) | undefined
  let [lines, dropped] = [0, 0]
  metrics.counter('cairn_access_log_lines_total', 'Lines of the access log.', () => lines)
  metrics.counter(
    'cairn_access_log_dropped_total',
    'Lines that the access log dropped because the disk was too slow or full.',
    () => dropped,
  )

  const writeAll = (bytes: Buffer, count: number) => {
    write(fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(() => writeAll(bytes, count), RETRY_MS) // a full pipe
      if (error !== null) dropped += count
      else if (written < bytes.length) return writeAll(bytes.subarray(written), count)
      else lines += count
      isWriting = false
      next()
    })
  }
  const next = () => {
    if (isWriting) return
    if (reopens) reopenNow()
    if (waiting.length === 0) return onIdle?.()
    const [text, count] = [waiting.join(''), waiting.length]
    waiting = []
    waitingBytes = 0
    isWriting = true
    writeAll(Buffer.from(text), count)
  }
  const reopenNow = () => {
    reopens = false
    if (path === '-') return
    try {
      const opened = open()
      closeSync(fd)
      fd = opened
    } catch {
      // The old file is better than none.
    }
  }
  const logger = pino(
    { base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    {
      write(line: string) {
        if (waitingBytes + line.length > MAX_WAITING_BYTES) {
          dropped++
          return
        }
        waitingBytes += line.length
        waiting.push(line)
        // One write for all requests of this turn.
        if (waiting.length === 1) setImmediate(next)
      },
    },
  )
  return {
    write: (fields) => logger.info(fields),
    reopen() {
      reopens = true
      next()
    },
    close() {
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          onIdle = undefined
          if (path !== '-' && !isWriting) closeSync(fd)
          resolve()
        }
        const timer = setTimeout(end, CLOSE_MS)
        onIdle = end
        next()
      })
    },
  }
}
