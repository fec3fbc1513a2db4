import { Interruption } from '../lib/errors.js'
import type { Database } from './open.js'

/** Tells whether another connection has committed, and lets work see one state of the database. */
export interface CommitWatch {
  /** A number that is another one after each commit of another connection; undefined on a connection that may write, whose
   *  own commits do not count. */
  version(): number | undefined
  /** Runs work that is to see one state of the database. A transaction begins with the first `beforeRead` only, since beginning
   *  and ending one takes longer than a small call; until then the state is known by its version. When another
   *  connection has committed in between, the work is broken off by an Interruption and run once more, from the beginning
   *  in a transaction. Within other such work it is a part of that. */
  inOneState<T>(work: () => T): T
  /** To be called before whatever is read in such work; elsewhere it does nothing.
   *  @throws Interruption which is for `inOneState` alone. */
  beforeRead(): void
}

class StateMoved extends Interruption {
  constructor() {
    super('another connection committed meanwhile')
  }
}

/** The watch over an open database: one for a connection. */
export function createCommitWatch(db: Database): CommitWatch {
  const select = db.prepare<[], number>('PRAGMA data_version').pluck()
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  let working = false
  let begun = false
  let known: number | undefined // the version of the state that the work sees

  const open = () => {
    begin.run()
    begun = true
  }
  const attempt = <T>(work: () => T, inTransaction: boolean): T => {
    try {
      if (inTransaction) open()
      known = select.get()
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
    version: () => (readonly ? (known ?? select.get()) : undefined),
    inOneState(work) {
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
      if (select.get() !== known) throw new StateMoved()
    },
  }
}
