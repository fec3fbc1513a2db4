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

// Number of 4 KiB pages to copy that makes a checkpoint worthwhile: 48 MiB. A page that several blocks change is copied
// once. It stays below `journal_size_limit`.
const WORTHWHILE_PAGES = 12_288
// WAL pages beyond which the writer waits until the log is copied and no reader needs it: 256 MiB. Otherwise,
// overlapping readers let it grow forever.
const MAX_LOG_PAGES = 65_536
// Attempts of 250 ms to restart the log: a second at first, doubled after each failure, at most a minute. Readers of
// servers end within their time limits; while a reader never ends, writing continues between the attempts.
const FIRST_ATTEMPTS = 4
const MAX_ATTEMPTS = 240

/** A thread that makes the checkpoints of a database. The first commit starts it. */
export class Checkpointer implements Checkpoints {
  readonly #path: string
  readonly #maxLogPages: number
  #thread: Thread<CheckpointerRequest, CheckpointerReply> | undefined
  #log: WriteAheadLog | undefined
  #underWay: { promise: Promise<boolean>; settle(result: CheckpointFailed | boolean): void } | undefined
  #attempts = FIRST_ATTEMPTS
  #nextRestartPages: number
  #failure: CheckpointFailed | undefined
  #isClosed = false

  constructor(datadir: string, { maxLogPages = MAX_LOG_PAGES } = {}) {
    this.#path = join(datadir, DATABASE_FILE)
    this.#maxLogPages = maxLogPages
    this.#nextRestartPages = maxLogPages
  }

  afterCommit(): Promise<void> | undefined {
    if (this.#failure) {
      const reported = this.#failure
      this.#failure = undefined // a writer that continues, for example after a full disk, tries again
      return Promise.reject(reported)
    }
    this.#log ??= openWriteAheadLog(this.#path)
    const { pages, waiting } = this.#log.measure()
    if (pages < this.#maxLogPages) this.#nextRestartPages = this.#maxLogPages
    if (pages > this.#nextRestartPages && waiting > 0) {
      return this.#restart(pages).catch((error: unknown) => {
        this.#failure = undefined // reported now
        throw error
      })
    }
    if (waiting >= WORTHWHILE_PAGES) void this.#begin('checkpoint')
    return undefined
  }

  /** Ends the thread after the current checkpoint. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#log?.close()
    await this.#thread?.end('close')
  }

  #start(): Thread<CheckpointerRequest, CheckpointerReply> {
    const data: CheckpointerData = { path: this.#path }
    return new Thread(new URL('./checkpointerThread.js', import.meta.url), {
      data,
      onMessage: (reply) => {
        if (!reply.failure) return this.#settle(reply.isRestarted === true)
        const { message, code } = reply.failure
        this.#settle(new CheckpointFailed(`checkpoint of ${this.#path}: ${message}`, { code }))
      },
      onEnd: (cause) => {
        this.#thread = undefined
        this.#settle(
          this.#isClosed ? false : new CheckpointFailed('the thread that makes checkpoints ended', { cause }),
        )
      },
    })
  }

  #begin(request: 'checkpoint' | 'restart'): Promise<boolean> {
    if (this.#underWay) return this.#underWay.promise
    this.#thread ??= this.#start()
    let settle: (result: CheckpointFailed | boolean) => void = () => {}
    const promise = new Promise<boolean>((resolve, reject) => {
      settle = (result) => (typeof result === 'boolean' ? resolve(result) : reject(result))
    })
    promise.catch(() => {}) // reported by the next commit, whether or not this one waits
    this.#underWay = { promise, settle }
    this.#thread.post(request)
    return promise
  }

  #settle(result: CheckpointFailed | boolean): void {
    const waiting = this.#underWay
    this.#underWay = undefined
    if (typeof result !== 'boolean') this.#failure ??= result
    waiting?.settle(result)
  }

  /** The current checkpoint started before the last commit: only the next one copies everything. */
  async #restart(pages: number): Promise<void> {
    await this.#underWay?.promise
    for (let attempt = 0; attempt < this.#attempts && !this.#isClosed; attempt++) {
      if (!(await this.#begin('restart'))) continue
      this.#attempts = FIRST_ATTEMPTS
      this.#nextRestartPages = this.#maxLogPages
      return
    }
    this.#attempts = Math.min(2 * this.#attempts, MAX_ATTEMPTS)
    this.#nextRestartPages = pages + this.#maxLogPages / 4
  }
}
