import SqliteDatabase from 'better-sqlite3'
import type { Database } from './database.js'

/** The write-ahead log of a database file, on its own connection, which does not need the writer lock. */
export interface WriteAheadLog {
  /** Pages in the log, and those not yet copied into the file. */
  measure(): { pages: number; waiting: number }
  /** Runs a passive checkpoint: copies what no reader needs and never waits. */
  checkpoint(): void
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
    close: () => void db.close(),
  }
}

/** Copies the whole log into the file and truncates it, so that new readers find a small log. */
export function truncateWriteAheadLog(db: Database): void {
  db.pragma('wal_checkpoint(TRUNCATE)')
}
