import { Interruption } from '../lib/errors.js'
import type { Database } from './database.js'

/** Detects commits of other connections, and runs work against one snapshot of the database. */
export interface CommitWatch {
  /** A number that changes with each commit of another connection (`PRAGMA data_version`); undefined on a connection that may
   *  write, since its own commits do not count. */
  version(): number | undefined
  /** Runs work against one snapshot of the database. The transaction begins with the first `beforeRead`, because to begin and
   *  end one takes longer than a small call; until then the version stands for the snapshot. When another connection
   *  commits in between, the work is aborted by an Interruption and rerun in a transaction from the start. Nested work joins
   *  the outer snapshot. */
  withSnapshot<T>(work: () => T): T
  /** To be called before each read in such work; does nothing elsewhere.
   *  @throws Interruption which is for `withSnapshot` alone. */
  beforeRead(): void
}

class StateMoved extends Interruption {
  constructor() {
    super('another connection committed meanwhile')
  }
}

/** Requests that arrive in one event-loop turn may share one snapshot, never older than the start of the turn. */
const TURN_MS = 0.5

/** A function that gives a number which changes with each commit of another connection. */
export function createDataVersion(db: Database): () => number {
  const select = db.prepare<[], number>('PRAGMA data_version').pluck()
  return () => select.get()!
}

/** The watch over an open database: one for a connection. With `mainThread`, for the connection that a server has in its main
 *  thread for as long as it runs, asking costs less: work may see the state that was the newest at the begin of the
 *  current turn of the event loop, or half a millisecond ago in a longer one; `version` is always the newest. */
export function createCommitWatch(db: Database, { mainThread = false } = {}): CommitWatch {
  const select = createDataVersion(db)
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  let working = false
  let begun = false
  let known: number | undefined // the version of the state that the work sees

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
      open()
      // To ask for it begins the reading.
      if (select() !== known) throw new StateMoved()
    },
  }
}

/** What `ask` gave in this turn of the event loop, for as long as a turn should take. */
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
