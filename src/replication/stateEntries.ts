import type { Database } from '../store/database.js'
import { createMetaTable, META_STATE_MODE } from '../store/meta.js'
import { decodeStateEntry } from '../store/replication/stateEntry.js'
import { type StateEntry, StateLog } from '../store/replication/stateLog.js'
import { createStateReader } from '../store/state/stateReader.js'
import type { StateMessage, StateRange } from './codec/types.js'
import { StateEntriesMissing } from './errors.js'

/** The additions to sparse state that a replica gets, in order. */
export interface StateCursor {
  /** The last entry that was taken; undefined for a replica without sparse state. */
  readonly position: number | undefined
  /** Takes the entries that precede a block, and its own; undefined for a replica without sparse state. */
  take(blockNumber: number): { entries?: readonly StateEntry[]; range: { state?: StateRange } }
  /** Takes the entries below a block one by one. */
  each(blockNumber: number): { entry: StateEntry; range: StateRange }[]
  /** A change set without entries. */
  range(): { state?: StateRange }
  /** The blocks above a number are removed from the replica, with the entries of them. */
  removeAbove(number: number): void
}

// A replica without state gets no entries, and sees that the writer has some.
const UNSEEN: StateCursor = {
  position: 0,
  take: () => ({ range: { state: { before: 0, after: 0 } } }),
  each: () => [],
  range: () => ({ state: { before: 0, after: 0 } }),
  removeAbove: () => {},
}
const NONE: StateCursor = {
  position: undefined,
  take: () => ({ range: {} }),
  each: () => [],
  range: () => ({}),
  removeAbove: () => {},
}

/** Creates a reader of the additions to sparse state over an open database. */
export function createStateEntries(db: Database) {
  const meta = createMetaTable(db)
  const log = new StateLog(db)
  const reader = createStateReader(db)
  const isSparse = () => meta.get<string>(META_STATE_MODE) === 'sparse'
  return {
    isSparse,
    positionAt: (blockNumber: number) => log.positionAt(blockNumber),
    bounds: () => {
      if (!isSparse()) return undefined
      return { newest: log.position, last: log.bounds.last, firstBlock: log.firstBlock() ?? Number.MAX_SAFE_INTEGER }
    },
    /** Adds the code of the accounts of an entry. */
    withCodes: (entry: StateEntry): StateMessage => {
      if (entry.kind !== 'fetched' && entry.kind !== 'block') return { ...entry, codes: [] }
      const { codeHashes } = decodeStateEntry(entry.data)
      return { ...entry, codes: codeHashes.map((hash) => reader.codeByHash(hash)) }
    },
    /** Begins after an entry. @throws StateEntriesMissing */
    cursor: (after: number | undefined): StateCursor => {
      if (!isSparse()) return NONE
      if (after === undefined) return UNSEEN
      const { from, last } = log.bounds
      if (after + 1 < from || after > last) throw new StateEntriesMissing(after, from)
      return new LogCursor(log, after)
    },
  }
}

class LogCursor implements StateCursor {
  private readonly log: StateLog
  private removedAbove: number | undefined
  position: number

  constructor(log: StateLog, after: number) {
    this.log = log
    this.position = after
  }

  take(blockNumber: number) {
    const before = this.position
    const entries = this.pending(blockNumber)
    this.pass(entries)
    return { entries, range: { state: { before, after: this.position } } }
  }

  each(blockNumber: number) {
    return this.pending(blockNumber).map((entry) => {
      const before = this.position
      this.pass([entry])
      return { entry, range: { before, after: this.position } }
    })
  }

  range() {
    return { state: { before: this.position, after: this.position } }
  }

  removeAbove(number: number): void {
    this.removedAbove = number
  }

  private pending(blockNumber: number): StateEntry[] {
    const { log, position, removedAbove } = this
    return removedAbove === undefined
      ? log.pending(position, blockNumber)
      : log.pendingAgain(position, blockNumber, removedAbove)
  }

  private pass(entries: readonly StateEntry[]): void {
    const last = entries.at(-1)
    if (last === undefined) return
    this.position = last.id
    this.removedAbove = undefined
  }
}
