import { join } from 'node:path'
import { CairnError } from '../lib/errors.js'
import type { Checkpoints } from '../store/checkpoints.js'
import { DATABASE_FILE } from '../store/open.js'
import { openWriteAheadLog, type WriteAheadLog } from '../store/writeAheadLog.js'
import { Thread } from './spawn.js'

/** Start data of the thread. */
export interface CheckpointerData {
  readonly path: string
}

/** Messages to the thread. */
export type CheckpointerRequest = 'checkpoint' | 'restart' | 'close'

/** Reply of the thread to the first two. */
export type CheckpointerReply = {
  readonly failure?: { readonly message: string; readonly code?: string }
  /** For `restart`: true when the next write begins at the start of the log. */
  readonly isRestarted?: boolean
}

/** The WAL could not be copied into the database file, or the checkpointer thread ended. */
export class CheckpointFailed extends CairnError {
  /** Code from SQLite or the system, such as `SQLITE_FULL`. */
  readonly code?: string
  constructor(message: string, { cause, code }: ErrorOptions & { code?: string } = {}) {
    super(message, { cause })
    this.code = code
  }
}

/** A thread that makes checkpoints. */
export interface Checkpointer extends Checkpoints {
  /** Ends the thread after the current checkpoint. */
  close(): Promise<void>
}

// Number of 4 KiB pages to copy that makes a checkpoint worth its two fsyncs.
const WORTHWHILE_PAGES = 1_000
// WAL pages beyond which the writer waits until the log is copied and no reader needs it: 256 MiB. Otherwise,
// overlapping readers let it grow forever.
const MAX_LOG_PAGES = 65_536
// Attempts of 250 ms to restart the log: a second at first, doubled after each failure, at most a minute. Readers of
// servers end within their time limits; while a reader never ends, writing continues between the attempts.
const FIRST_ATTEMPTS = 4
const MAX_ATTEMPTS = 240

/** Creates the checkpoints of the database in `datadir`. The first commit starts the thread. */
export function createCheckpointer(datadir: string, { maxLogPages = MAX_LOG_PAGES } = {}): Checkpointer {
  const path = join(datadir, DATABASE_FILE)
  let thread: Thread<CheckpointerRequest, CheckpointerReply> | undefined
  let closed = false
  let log: WriteAheadLog | undefined
  let underWay: { promise: Promise<boolean>; settle(result: CheckpointFailed | boolean): void } | undefined
  let attempts = FIRST_ATTEMPTS
  let nextRestartPages = maxLogPages
  let failure: CheckpointFailed | undefined

  const settle = (result: CheckpointFailed | boolean) => {
    const waiting = underWay
    underWay = undefined
    if (typeof result !== 'boolean') failure ??= result
    waiting?.settle(result)
  }
  const start = () => {
    const data: CheckpointerData = { path }
    return new Thread<CheckpointerRequest, CheckpointerReply>(new URL('./checkpointerThread.js', import.meta.url), {
      data,
      onMessage: (reply) => {
        if (!reply.failure) return settle(reply.isRestarted === true)
        const { message, code } = reply.failure
        settle(new CheckpointFailed(`checkpoint of ${path}: ${message}`, { code }))
      },
      onEnd: (cause) => {
        thread = undefined
        settle(closed ? false : new CheckpointFailed('the thread that makes checkpoints ended', { cause }))
      },
    })
  }
  const begin = (request: 'checkpoint' | 'restart'): Promise<boolean> => {
    if (underWay) return underWay.promise
    thread ??= start()
    let settleIt: (result: CheckpointFailed | boolean) => void = () => {}
    const promise = new Promise<boolean>((resolve, reject) => {
      settleIt = (result) => (typeof result === 'boolean' ? resolve(result) : reject(result))
    })
    promise.catch(() => {}) // reported by the next commit, whether or not this one waits
    underWay = { promise, settle: settleIt }
    thread.post(request)
    return promise
  }
  /** The current checkpoint started before the last commit: only the next one copies everything. */
  const restart = async (pages: number): Promise<void> => {
    await underWay?.promise
    for (let attempt = 0; attempt < attempts && !closed; attempt++) {
      if (!(await begin('restart'))) continue
      attempts = FIRST_ATTEMPTS
      nextRestartPages = maxLogPages
      return
    }
    attempts = Math.min(2 * attempts, MAX_ATTEMPTS)
    nextRestartPages = pages + maxLogPages / 4
  }
  return {
    afterCommit: () => {
      if (failure) {
        const reported = failure
        failure = undefined // a writer that continues, for example after a full disk, tries again
        return Promise.reject(reported)
      }
      log ??= openWriteAheadLog(path)
      const { pages, waiting } = log.measure()
      if (pages < maxLogPages) nextRestartPages = maxLogPages
      if (pages > nextRestartPages && waiting > 0) {
        return restart(pages).catch((error: unknown) => {
          failure = undefined // reported now
          throw error
        })
      }
      if (waiting >= WORTHWHILE_PAGES) void begin('checkpoint')
      return undefined
    },
    close: async () => {
      closed = true
      log?.close()
      await thread?.end('close')
    },
  }
}
