import type { Database } from './database.js'

/** Begins a transaction of the only writer. @throws Error of SQLite when another connection writes */
export function beginWriting(db: Database): void {
  db.exec('BEGIN IMMEDIATE')
}

/** Commits the transaction. */
export function commitWriting(db: Database): void {
  db.exec('COMMIT')
}
