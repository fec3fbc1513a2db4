import { Interruption } from '../lib/errors.js'
import type { Database } from './database.js'
import { openWalIndexHeader } from './walIndex.js'

/** Tells whether another connection has committed, and lets work see one state of the database. */
export interface CommitWatch {
  /** A number that is another one after each commit of another connection; undefined on a connection that may write, whose
   *  own commits do not count. */
  version(): number | undefined
  /** Runs work that is to see one state of the database. A transaction begins with the first `beforeRead` only, since beginning
   *  and ending one takes longer than a small call; until then the state is known by its version. When another
   *  connection has committed in between, the work is broken off by an Interruption and run once more, from the beginning
   *  in a transaction. Within other such work it is a part of that. */
  withSnapshot<T>(work: () => T): T
  /** To be called before whatever is read in such work; elsewhere it does nothing.
   *  @throws Interruption which is for `withSnapshot` alone. */
  beforeRead(): void
}

class StateMoved extends Interruption {
  constructor() {
    super('another connection committed meanwhile')
  }
}

/** All requests that come in one turn may see the state at its begin: answers that their clients have seen were sent before. */
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

  const peek = mainThread && db.readonly ? askWhenMoved(db, select) : select
  const newest = mainThread ? rememberForTurn(peek) : peek

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
    version: () => (readonly ? (known ?? peek()) : undefined),
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

/** What `ask` gives, asked again only when the index of the write-ahead log has changed since. */
function askWhenMoved(db: Database, ask: () => number): () => number {
  ask() // which opens the index
  const header = openWalIndexHeader(db)
  if (header === undefined) return ask
  header.hasMoved()
  header.take()
  let answer = ask()
  return () => {
    // It is read before the version is asked for: a commit in between changes it once more.
    if (!header.hasMoved()) return answer
    const asked = ask()
    // A statement that is not through yet keeps the connection to the state before.
    if (asked !== answer) header.take()
    answer = asked
    return answer
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
