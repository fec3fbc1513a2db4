import type { Database } from './database.js'

/** Begins a write transaction. @throws SQLite's error when another connection is writing */
export function beginWriting(db: Database): void {
  db.exec('BEGIN IMMEDIATE')
}

/** Commits the transaction. */
export function commitWriting(db: Database): void {
  db.exec('COMMIT')
}

/** Rolls the transaction back. SQLite has done so itself after some failures, such as a full disk. */
export function rollbackWriting(db: Database): void {
  if (db.inTransaction) db.exec('ROLLBACK')
}
