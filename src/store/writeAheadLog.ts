import SqliteDatabase from 'better-sqlite3'
import type { Database } from './database.js'

/** The write-ahead log of a database file, on its own connection, which does not need the writer lock. */
export interface WriteAheadLog {
  /** Pages in the log, and those not yet copied into the file. */
  measure(): { pages: number; waiting: number }
  /** Runs a passive checkpoint: copies what no reader needs and never waits. */
  checkpoint(): void
  /** Copies the whole log, then waits until no reader needs it, for at most `waitMs` and with the writer's lock.
   *  Readers that begin meanwhile read the file alone. True if the next write begins at the start of the log. */
  restart(waitMs: number): boolean
  close(): void
}

/** Opens the write-ahead log of an existing database file. @throws SQLite's error when the file is missing */
export function openWriteAheadLog(path: string): WriteAheadLog {
  const db = new SqliteDatabase(path, { fileMustExist: true })
  const select = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)')
  return {
    measure: () => {
      const { log, checkpointed } = select.get()!
      return { pages: log, waiting: log - checkpointed }
    },
    checkpoint: () => void db.pragma('wal_checkpoint(PASSIVE)'),
    restart: (waitMs) => {
      db.pragma(`busy_timeout = ${waitMs}`)
      return db.pragma('wal_checkpoint(RESTART)', { simple: true }) === 0
    },
    close: () => void db.close(),
  }
}

/** Copies the whole log into the file and truncates it, so that new readers find a small log. */
export function truncateWriteAheadLog(db: Database): void {
  db.pragma('wal_checkpoint(TRUNCATE)')
}

/** Truncates the write-ahead log where the disk allows it, and closes the connection in any case. Never throws: it runs
 *  after failures, among them a full disk, and its own failure would hide the first one and keep the writer lock. */
export function closeWritten(db: Database): void {
  attempt(() => truncateWriteAheadLog(db)) // readers find the remaining pages in the log
  attempt(() => db.close())
}

function attempt(work: () => void): void {
  try {
    work()
  } catch {
    // The caller cannot do anything about it.
  }
}
