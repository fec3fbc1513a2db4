import { existsSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { Database } from '../database.js'
import { createPrivately } from '../fileLock.js'

/** The usage database in a data directory. It is separate from the chain's database, because a server that only reads
 *  has no writer, and several servers may add to it. */
export const USAGE_FILE = 'usage.db'

// How long a flush waits for another server's. It is on the main thread: on failure it is retried a minute later.
const BUSY_MS = 100

/** Usage by calls of one method. */
export interface UsageFigures {
  calls: number
  errors: number
  /** Size of request bodies; a batch is shared equally among its calls. */
  bytesIn: number
  /** Size of results before compression, and of notifications. */
  bytesOut: number
  /** Time from dispatch to outcome, including the wait for a thread. */
  ms: number
}

/** Figures of one key and method. */
export interface KeyUsage extends UsageFigures {
  keyId: number
  method: string
}

/** Figures of one UTC day. */
export interface DayUsage extends KeyUsage {
  /** Days since 1970-01-01. */
  day: number
}

/** Usage by day, key and method. */
export interface UsageTable {
  /** Adds the figures in one transaction. @throws SQLITE_BUSY when another process keeps it locked */
  add(day: number, usage: Iterable<KeyUsage>): void
  /** Removes the figures of days before `day`. */
  removeBefore(day: number): void
  /** Figures from `firstDay` on, ordered by day, key and method. */
  since(firstDay: number): DayUsage[]
  close(): void
}

/** Opens the usage of a data directory for writing, creating it if missing. A crash loses only figures not added
 *  yet. */
export function openUsage(datadir: string): UsageTable {
  const path = join(datadir, USAGE_FILE)
  createPrivately(path)
  const db = new SqliteDatabase(path, { timeout: BUSY_MS })
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.exec(
      `CREATE TABLE IF NOT EXISTS key_usage (
         day INTEGER NOT NULL, key_id INTEGER NOT NULL, method TEXT NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL,
         bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL, ms REAL NOT NULL, PRIMARY KEY (day, key_id, method)
       ) WITHOUT ROWID`,
    )
    return createTable(db)
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens the usage of a data directory for reading; undefined if missing. */
export function openUsageForReading(datadir: string): UsageTable | undefined {
  const path = join(datadir, USAGE_FILE)
  if (!existsSync(path)) return undefined
  const db = new SqliteDatabase(path, { readonly: true })
  // A server killed right after creating the file leaves it empty.
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'key_usage'").get() !== undefined) return createTable(db)
  db.close()
  return undefined
}

function createTable(db: Database): UsageTable {
  const insert = db.prepare(
    `INSERT INTO key_usage VALUES (:day, :keyId, :method, :calls, :errors, :bytesIn, :bytesOut, :ms)
     ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, errors = errors + excluded.errors,
       bytes_in = bytes_in + excluded.bytes_in, bytes_out = bytes_out + excluded.bytes_out, ms = ms + excluded.ms`,
  )
  const add = db.transaction((day: number, usage: Iterable<KeyUsage>) => {
    for (const row of usage) {
      insert.run({ ...row, day, bytesIn: Math.round(row.bytesIn), bytesOut: Math.round(row.bytesOut) })
    }
  })
  return {
    add: (day, usage) => add.immediate(day, usage),
    removeBefore: (day) => void db.prepare('DELETE FROM key_usage WHERE day < ?').run(day),
    since: (firstDay) =>
      db
        .prepare<[number], DayUsage>(
          `SELECT day, key_id AS keyId, method, calls, errors, bytes_in AS bytesIn, bytes_out AS bytesOut, ms
           FROM key_usage WHERE day >= ? ORDER BY day, key_id, method`,
        )
        .all(firstDay),
    close: () => void db.close(),
  }
}
