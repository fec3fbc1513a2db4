import SqliteDatabase from 'better-sqlite3'
import type { Database } from './database.js'

/** The write-ahead log of a database file, on a connection of its own that does nothing else and needs no writer's lock. */
export interface WriteAheadLog {
  /** Pages in the log, and those of them that wait to be copied into the file. */
  measure(): { pages: number; waiting: number }
  /** Copies what no reader needs any more. Waits for nobody: the rest stays for the next time. */
  checkpoint(): void
  close(): void
}

/** Opens the log of an existing database file. @throws Error of SQLite when there is none */
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

/** Copies the whole log into the file and empties it: readers that open next find a small one. */
export function truncateWriteAheadLog(db: Database): void {
  db.pragma('wal_checkpoint(TRUNCATE)')
}
