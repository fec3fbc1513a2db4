import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Checkpoints } from '../ingest/checkpoints.js'
import { CairnError } from '../lib/errors.js'
import { DATABASE_FILE } from '../store/open.js'
import { openWriteAheadLog, type WriteAheadLog } from '../store/writeAheadLog.js'
import type { CheckpointerData, CheckpointerReply, CheckpointerRequest } from './checkpointerProtocol.js'

/** The WAL could not be copied into the database file, or the checkpointer thread ended. */
export class CheckpointFailed extends CairnError {
  /** SQLite's or the system's, such as `SQLITE_FULL`. */
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

// Pages of 4 KiB to be copied that make a checkpoint worth its two fsyncs.
const WORTHWHILE_PAGES = 1_000
// WAL pages beyond which the writer waits for a full checkpoint: 256 MiB.
const MAX_LOG_PAGES = 65_536

/** Checkpoints of the database in `datadir`. The first commit starts the thread. */
export function createCheckpointer(datadir: string, { maxLogPages = MAX_LOG_PAGES } = {}): Checkpointer {
  const path = join(datadir, DATABASE_FILE)
  let worker: Worker | undefined
  let exited: Promise<void> | undefined
  let closed = false
  let log: WriteAheadLog | undefined
  let underWay: { promise: Promise<void>; settle(error?: CheckpointFailed): void } | undefined
  let failure: CheckpointFailed | undefined

  const settle = (error?: CheckpointFailed) => {
    const waiting = underWay
    underWay = undefined
    failure ??= error
    waiting?.settle(error)
  }
  const start = (): Worker => {
    const data: CheckpointerData = { path }
    const thread = new Worker(new URL('./checkpointerThread.js', import.meta.url), { workerData: data })
    thread.on('message', (reply: CheckpointerReply) => {
      if (!reply.failure) return settle()
      const { message, code } = reply.failure
      settle(new CheckpointFailed(`checkpoint of ${path}: ${message}`, { code }))
    })
    const end = (cause?: unknown) => {
      if (worker !== thread) return // `exit` after `error`
      worker = undefined
      if (!closed) settle(new CheckpointFailed('the thread that makes checkpoints ended', { cause }))
      else settle()
    }
    thread.on('error', end)
    exited = new Promise((resolve) => {
      thread.on('exit', () => {
        end()
        resolve()
      })
    })
    return thread
  }
  const begin = (): Promise<void> => {
    if (underWay) return underWay.promise
    worker ??= start()
    let settleIt: (error?: CheckpointFailed) => void = () => {}
    const promise = new Promise<void>((resolve, reject) => {
      settleIt = (error) => (error ? reject(error) : resolve())
    })
    promise.catch(() => {}) // reported by the next commit, whether or not this one waits
    underWay = { promise, settle: settleIt }
    worker.postMessage('checkpoint' satisfies CheckpointerRequest)
    return promise
  }
  return {
    afterCommit: () => {
      if (failure) {
        const told = failure
        failure = undefined // a writer that goes on, such as one after a full disk, tries again
        return Promise.reject(told)
      }
      log ??= openWriteAheadLog(path)
      const { pages, waiting } = log.measure()
      if (pages > maxLogPages && waiting > 0) {
        // The current one started before the last commit: only the next one copies everything.
        return (underWay?.promise ?? Promise.resolve()).then(begin).catch((error: unknown) => {
          failure = undefined // told now
          throw error
        })
      }
      if (waiting >= WORTHWHILE_PAGES) void begin()
      return undefined
    },
    close: async () => {
      closed = true
      log?.close()
      if (!worker) return
      worker.postMessage('close' satisfies CheckpointerRequest)
      await exited
    },
  }
}
