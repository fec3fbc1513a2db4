import type { Database } from './database.js'

/** Begins a write transaction. @throws SQLite's error when another connection is writing */
export function beginWriting(db: Database): void {
  db.exec('BEGIN IMMEDIATE')
}

/** Commits the transaction. */
export function commitWriting(db: Database): void {
  db.exec('COMMIT')
}

/** Gives the transaction up. */
export function rollbackWriting(db: Database): void {
  db.exec('ROLLBACK')
}
