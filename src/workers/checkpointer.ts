import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Checkpoints } from '../ingest/checkpoints.js'
import { CairnError } from '../lib/errors.js'
import { DATABASE_FILE } from '../store/open.js'

/** What the thread is started with. */
export interface CheckpointerData {
  readonly path: string
}

/** What it is told. */
export type CheckpointerRequest = 'checkpoint' | 'close'

/** What it answers to the first: how many pages the log has and how many of them are in the database file. */
export type CheckpointerReply = { readonly pages: number; readonly copied: number } | { readonly failure: string }

/** The write-ahead log could not be copied into the database file, or the thread that does so ended. */
export class CheckpointFailed extends CairnError {}

/** A thread that makes checkpoints. */
export interface Checkpointer extends Checkpoints {
  /** Ends the thread after the checkpoint under way. */
  close(): Promise<void>
}

const PAGE_BYTES = 4096
// Pages that the log may have before the writer waits for it to be copied whole: 256 MiB.
const MAX_LOG_PAGES = 65_536

/** Checkpoints of the database in `datadir`. The thread is started by the first commit. */
export function createCheckpointer(datadir: string, { maxLogPages = MAX_LOG_PAGES } = {}): Checkpointer {
  const path = join(datadir, DATABASE_FILE)
  let worker: Worker | undefined
  let exited: Promise<void> | undefined
  let closed = false
  let logPages = 0
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
      if ('failure' in reply) settle(new CheckpointFailed(`checkpoint of ${path}: ${reply.failure}`))
      else {
        logPages = reply.pages
        settle()
      }
    })
    const end = (cause?: unknown) => {
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
    promise.catch(() => {}) // told by the next commit, whether or not this one waits
    underWay = { promise, settle: settleIt }
    worker.postMessage('checkpoint' satisfies CheckpointerRequest)
    return promise
  }
  return {
    afterCommit: () => {
      if (failure) return Promise.reject(failure)
      // The file is as long as the log ever was: its length matters only while nobody knows how long the log is now.
      const fileBytes = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
      const tooLong = logPages > maxLogPages || (underWay && fileBytes() > maxLogPages * PAGE_BYTES)
      if (!tooLong) {
        void begin()
        return undefined
      }
      // One that is under way began before the last commit: only the next copies everything.
      logPages = 0
      return (underWay?.promise ?? Promise.resolve()).then(begin)
    },
    close: async () => {
      closed = true
      if (!worker) return
      worker.postMessage('close' satisfies CheckpointerRequest)
      await exited
    },
  }
}
