import { createCommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { openForReading } from '../store/open.js'
import { createChainReader } from '../store/rows/chainReader.js'
import type { ChainReader } from '../store/rows/types.js'
import { createStateReads, type StateReads } from '../store/state/stateReader.js'

/** What functions of a query read: a connection runs no other statement during a query. */
export interface StateConnection {
  readonly db: Database
  readonly chain: ChainReader
  readonly state: StateReads
}

/** Opens a connection of its own to the database of `datadir` when it is first asked for. */
export interface LazyStateConnection {
  get(): StateConnection
  close(): void
}

/** Returns a connection that is not opened yet. */
export function createStateConnection(datadir: string): LazyStateConnection {
  let opened: StateConnection | undefined
  return {
    get() {
      if (opened === undefined) {
        const db = openForReading(datadir)
        opened = { db, chain: createChainReader(db, createCommitWatch(db)), state: createStateReads(db) }
      }
      return opened
    },
    close() {
      opened?.db.close()
      opened = undefined
    },
  }
}
