import { Interruption } from '../lib/errors.js'
import type { Database } from './database.js'

/** Detects commits of other connections, and runs work against one snapshot of the database. */
export interface CommitWatch {
  /** A number that changes with each commit of another connection (`PRAGMA data_version`). Undefined on a writing
   *  connection, since its own commits do not change it. */
  version(): number | undefined
  /** As `version`; on a main thread it may be that of the start of the current event-loop turn. */
  recentVersion(): number | undefined
  /** Runs work against one snapshot of the database. The transaction starts at the first `beforeRead`, because beginning
   *  and ending one takes longer than a small call; until then the version identifies the snapshot. When another
   *  connection commits in between, an Interruption aborts the work, and it is rerun in a transaction from the start.
   *  Nested work joins the outer snapshot. */
  withSnapshot<T>(work: () => T): T
  /** Call before each read inside `withSnapshot`; a no-op elsewhere. @throws Interruption, which only `withSnapshot`
   *  catches. */
  beforeRead(): void
}

class StateMoved extends Interruption {
  constructor() {
    super('another connection committed meanwhile')
  }
}

/** Requests that arrive in one event-loop turn may share one snapshot, never older than the start of the turn. */
const TURN_MS = 0.5

/** Returns a function that reads `PRAGMA data_version`: a number that changes with each commit of another connection. */
export function createDataVersion(db: Database): () => number {
  const select = db.prepare<[], number>('PRAGMA data_version').pluck()
  return () => select.get()!
}

/** The watch of an open connection; one per connection. `mainThread` makes checks cheaper on the connection of a server's
 *  main thread: work may see the state at the start of the current event-loop turn, or half a millisecond ago in a longer
 *  turn. `version` is always current. */
export function createCommitWatch(db: Database, { mainThread = false } = {}): CommitWatch {
  const select = createDataVersion(db)
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  let working = false
  let begun = false
  let known: number | undefined // version of the snapshot that the work sees

  const newest = mainThread ? rememberForTurn(select) : select

  const open = () => {
    begin.run()
    begun = true
  }
  const attempt = <T>(work: () => T, inTransaction: boolean): T => {
    try {
      if (inTransaction) open()
      known = inTransaction ? select() : newest()
      return work()
    } finally {
      known = undefined
      if (begun) {
        begun = false
        commit.run()
      }
    }
  }
  const { readonly } = db
  return {
    version: () => (readonly ? (known ?? select()) : undefined),
    recentVersion: () => (readonly ? (known ?? newest()) : undefined),
    withSnapshot(work) {
      if (working || (!readonly && db.inTransaction)) return work()
      working = true
      try {
        return attempt(work, !readonly)
      } catch (error) {
        if (!(error instanceof StateMoved)) throw error
        return attempt(work, true)
      } finally {
        working = false
      }
    },
    beforeRead() {
      if (known === undefined || begun) return
      // A transaction of the work itself, such as a search, is a snapshot already.
      if (!db.inTransaction) open()
      // This query starts the read transaction.
      if (select() !== known) throw new StateMoved()
    },
  }
}

/** Caches the result of `ask` for this event-loop turn, at most for `TURN_MS`. */
function rememberForTurn(ask: () => number): () => number {
  let answer = 0
  let askedAt = Number.NEGATIVE_INFINITY
  const forget = () => {
    askedAt = Number.NEGATIVE_INFINITY
  }
  return () => {
    const now = performance.now()
    if (now - askedAt < TURN_MS) return answer
    answer = ask()
    askedAt = now
    setImmediate(forget)
    return answer
  }
}
