import { parentPort } from 'node:worker_threads'
import { messageOf, UsageError } from '../lib/errors.js'
import { isWrongDatabase } from '../store/open.js'
import type { WriterReply, WriterRequest } from './spawn.js'

/** Interval of the status reports of a thread. */
export const STATUS_MS = 250

/** The work of a thread that writes the chain. */
interface Writer<Status, Request> {
  /** Resolves or rejects when the work has ended. Its failure is logged and part of the status. */
  run(): Promise<void>
  status(): Status
  /** Handles a message of the thread that started this one. */
  handle?(request: Request): void
  close(): void | Promise<void>
}

/** Runs the work of a thread that `spawnWriter` started: reports whether it could be opened, then its status every
 *  250 ms and when it ended. `open` gets a signal that aborts when the server stops; `release` is called last, also
 *  when `open` failed. The thread exits by itself and is never terminated. */
export async function runWriter<Status, Request extends object = never>(
  open: (signal: AbortSignal) => Promise<Writer<Status, Request>>,
  release: () => Promise<void>,
): Promise<void> {
  const port = parentPort!
  const post = (reply: WriterReply | { kind: 'status'; status: Status }) => port.postMessage(reply)
  const stop = new AbortController()
  let handle: Writer<Status, Request>['handle']
  port.on('message', (request: WriterRequest<Request>) => {
    if (request === 'stop') stop.abort(new Error('the server stops'))
    else handle?.(request)
  })
  try {
    const writer = await open(stop.signal)
    handle = writer.handle
    post({ kind: 'opened' })
    const reportStatus = () => post({ kind: 'status', status: writer.status() })
    const timer = setInterval(reportStatus, STATUS_MS)
    try {
      await writer.run()
    } catch {
      // The error is in the log and in the status. Another thread is started: serving continues, and writing resumes.
    } finally {
      clearInterval(timer)
      reportStatus()
      await writer.close()
    }
  } catch (error) {
    post({ kind: 'refused', message: messageOf(error), isUsage: error instanceof UsageError || isWrongDatabase(error) })
  } finally {
    await release()
    port.close()
  }
}
