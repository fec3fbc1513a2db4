import type { Statement } from 'better-sqlite3'
import { Interruption } from '../lib/errors.js'
import type { Database } from './database.js'

/** Detects commits of other connections, and runs work against one snapshot of the database. */
export interface CommitWatch {
  /** A number that changes with each commit of another connection (`PRAGMA data_version`). Undefined on a writing
   *  connection, since its own commits do not change it. */
  version(): number | undefined
  /** As `version`; on a main thread it may be that of the start of the current event-loop turn. */
  recentVersion(): number | undefined
  /** Runs work against one snapshot of the database. The transaction starts at the first `beforeRead`, because
   *  beginning and ending one takes longer than a small call; until then the version identifies the snapshot. When
   *  another connection commits in between, an Interruption aborts the work, and it is rerun in a transaction from the
   *  start. After work that has read, the next transaction starts with its work. Nested work joins the outer
   *  snapshot. Of asynchronous work, the part before its first `await` sees the snapshot. */
  withSnapshot<T>(work: () => T, options?: SnapshotOptions): T
  /** Call before each read inside `withSnapshot`; a no-op elsewhere. @throws Interruption, which only `withSnapshot`
   *  catches. */
  beforeRead(): void
}

/** Options of a snapshot. */
interface SnapshotOptions {
  /** The snapshot is of this moment, not of the start of the event-loop turn. Ignored in nested work. */
  readonly isNewest?: boolean
  /** The work certainly reads: the snapshot starts with its transaction. Ignored in nested work. */
  readonly reads?: boolean
}

class StateMoved extends Interruption {
  constructor() {
    super('another connection committed meanwhile')
  }
}

/** Requests that arrive in one event-loop turn may share one snapshot, never older than the start of the turn. */
const TURN_MS = 0.5

/** Returns a function that reads `PRAGMA data_version`: a number that changes with each commit of another
 *  connection. */
export function createDataVersion(db: Database): () => number {
  const select = db.prepare<[], number>('PRAGMA data_version').pluck()
  return () => select.get()!
}

/** Returns the reader with `beforeRead` called before each of its functions, so that several of them read one
 *  snapshot. */
export function readsInSnapshot<T extends object>(reader: T, watch: Pick<CommitWatch, 'beforeRead'>): T {
  const members = Object.entries(reader).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member]
    return [
      name,
      (...args: unknown[]) => {
        watch.beforeRead()
        return member(...args)
      },
    ]
  })
  return Object.fromEntries(members) as T
}

/** Creates the watch of an open connection; one per connection. `mainThread` makes checks cheaper on the connection of
 *  a server's main thread: work may see the state at the start of the current event-loop turn, or half a millisecond
 *  ago in a longer turn, and the transaction that one work starts serves those after it in the same turn. `version` is
 *  always current. */
export function createCommitWatch(db: Database, { mainThread = false } = {}): CommitWatch {
  return db.readonly ? new ReadingWatch(db, mainThread) : watchWriter(db)
}

/** Creates the watch of a writing connection: all work is a transaction. */
function watchWriter(db: Database): CommitWatch {
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  return {
    version: () => undefined,
    recentVersion: () => undefined,
    withSnapshot(work) {
      if (db.inTransaction) return work()
      begin.run()
      try {
        return work()
      } finally {
        commit.run()
      }
    },
    beforeRead() {},
  }
}

/** The watch of a reading connection. Starting a transaction, reading its version and ending it are three calls into
 *  native code, which take longer than most reads of a small call. So a snapshot starts with a transaction if the
 *  snapshot before it needed one, and otherwise with the version alone. */
class ReadingWatch implements CommitWatch {
  readonly #db: Database
  readonly #mainThread: boolean
  readonly #select: () => number
  readonly #begin: Statement
  readonly #commit: Statement
  #working = false
  /** Version of the snapshot that the work sees. */
  #known: number | undefined
  /** True while a transaction that this watch began is open. */
  #begun = false
  /** Whether something was read in this snapshot, and in the one before. */
  #hasRead = false
  #hadRead = false
  /** On the main thread: version of this turn, and when it was read. */
  #ofTurn: number | undefined
  #askedMs = 0
  #endsTurn = false

  constructor(db: Database, mainThread: boolean) {
    this.#db = db
    this.#mainThread = mainThread
    this.#select = createDataVersion(db)
    this.#begin = db.prepare('BEGIN')
    this.#commit = db.prepare('COMMIT')
  }

  version(): number {
    if (this.#known !== undefined) return this.#known
    if (this.#begun) this.#end()
    return this.#select()
  }

  recentVersion(): number {
    if (this.#known !== undefined) return this.#known
    return this.#mainThread ? this.#versionOfTurn() : this.#select()
  }

  /** Callers pass it without its object. */
  readonly withSnapshot = <T>(work: () => T, { isNewest = false, reads = false }: SnapshotOptions = {}): T => {
    if (this.#working) return work()
    if (isNewest) this.#end()
    const rerunIfMoved = (error: unknown): T => {
      if (!(error instanceof StateMoved)) throw error
      return this.#run(work, { reads, inTransaction: true })
    }
    try {
      const result = this.#run(work, { reads, inTransaction: false })
      // The work of an async function throws by its promise.
      return result instanceof Promise ? (result.catch(rerunIfMoved) as T) : result
    } catch (error) {
      return rerunIfMoved(error)
    }
  }

  /** Runs work against one snapshot, up to its first `await` if it is asynchronous. @throws StateMoved, unless
   *  `inTransaction` */
  #run<T>(work: () => T, { reads, inTransaction }: { reads: boolean; inTransaction: boolean }): T {
    this.#working = true
    try {
      if (inTransaction) {
        if (this.#mainThread) this.#endAfterTurn()
        this.#known = this.#start(true)
      } else {
        this.#known = this.#mainThread ? this.#versionOfTurn() : this.#start(reads || this.#hadRead)
      }
      return work()
    } catch (error) {
      // SQLite may have ended the transaction, after an I/O error for example.
      this.#end()
      throw error
    } finally {
      this.#known = undefined
      this.#working = false
      if (reads) this.#hasRead = this.#hadRead // does not predict whether the next work reads
      if (!this.#mainThread) this.#end()
    }
  }

  beforeRead(): void {
    if (this.#known === undefined) return
    this.#hasRead = true
    if (this.#begun) return
    // A transaction of the work itself, such as a search, is a snapshot already.
    if (!this.#db.inTransaction) this.#open()
    // This query starts the read transaction.
    if (this.#select() === this.#known) return
    this.#ofTurn = undefined // no longer the version of the transaction
    throw new StateMoved()
  }

  /** Starts a snapshot, in a transaction if `opens`, and returns its version. */
  #start(opens: boolean): number {
    this.#ofTurn = undefined
    if (opens && !this.#begun && !this.#db.inTransaction) this.#open()
    const version = this.#select()
    if (this.#mainThread) {
      this.#ofTurn = version
      this.#askedMs = performance.now()
    }
    return version
  }

  /** The version of this event-loop turn, at most `TURN_MS` old. */
  #versionOfTurn(): number {
    if (this.#ofTurn !== undefined && performance.now() - this.#askedMs < TURN_MS) return this.#ofTurn
    if (this.#begun) this.#end()
    this.#endAfterTurn()
    return this.#start(this.#hadRead)
  }

  #endAfterTurn(): void {
    if (this.#endsTurn) return
    this.#endsTurn = true
    setImmediate(this.#endTurn)
  }

  readonly #endTurn = () => {
    this.#endsTurn = false
    if (this.#db.open) this.#end()
  }

  #open(): void {
    this.#begin.run()
    this.#begun = true
  }

  /** Ends the snapshot. */
  #end(): void {
    this.#ofTurn = undefined
    this.#hadRead = this.#hasRead
    this.#hasRead = false
    if (!this.#begun) return
    this.#begun = false
    try {
      this.#commit.run()
    } catch (error) {
      if (this.#db.inTransaction) throw error
    }
  }
}
