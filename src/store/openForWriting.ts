import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { CairnError } from '../lib/errors.js'
import type { Database } from './database.js'
import { createPrivately, holdLock } from './fileLock.js'
import { DATABASE_FILE, DatabaseLocked, DatabaseNotWritable, packagePath, requireKnownSchema, tune } from './open.js'
import { writeSeals } from './seals.js'

/* Separate from `open`: reader threads do not load the migrator, which takes 20 ms. */

/** Opens the database of `datadir` for writing, creates it when missing, and migrates its schema. New files are
 *  readable by this user only: others could read API key hashes and hold the lock. The writer lock is a separate
 *  database with an open exclusive transaction, so it ends with the process in any case. @throws DatabaseLocked when
 *  another process is writing; DatabaseOfEarlierBuild; DatabaseTooNew; DatabaseNotWritable */
export function openForWriting(datadir: string): Database {
  const lock = explainNotWritable(datadir, () => openLock(datadir))
  let db: Database | undefined
  try {
    db = explainNotWritable(datadir, () => openWriter(datadir))
  } finally {
    if (db === undefined) lock.close()
  }
  const close = db.close.bind(db)
  db.close = () => {
    try {
      close()
    } finally {
      lock.close()
    }
    return db
  }
  return db
}

function openLock(datadir: string): Database {
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  const lock = holdLock(join(datadir, 'cairn.lock'))
  if (lock === undefined) throw new DatabaseLocked(join(datadir, DATABASE_FILE))
  return lock
}

function openWriter(datadir: string): Database {
  const path = join(datadir, DATABASE_FILE)
  createPrivately(path) // SQLite creates the write-ahead log files with the same mode
  refuseUnchanged(path)
  const db = new SqliteDatabase(path)
  try {
    const { found, known } = requireKnownSchema(db)
    tune(db)
    db.pragma('journal_mode = WAL')
    // NORMAL in WAL mode: a power cut may lose the last transactions, never corrupt; kill -9 loses nothing committed.
    db.pragma('synchronous = NORMAL')
    // Fewer checkpoints than the default 1,000 pages: measured better on bulk loads.
    db.pragma('wal_autocheckpoint = 16000')
    // A log that a burst or a long reader let grow is truncated to this size when it restarts.
    db.pragma(`journal_size_limit = ${LOG_LIMIT_BYTES}`)
    if (found === 0) createSchema(db)
    else if (found < known) migrateSchema(db)
    writeSeals(db, { rewrite: found < known }) // migrations change sealed rows
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

/** Refuses a database that is not for this build over a read-only connection: closing a writing one would move the
 *  write-ahead log of a killed process into the file. @throws DatabaseOfEarlierBuild; DatabaseTooNew */
function refuseUnchanged(path: string): void {
  let db: Database | undefined
  try {
    db = new SqliteDatabase(path, { readonly: true })
    requireKnownSchema(db)
  } catch (error) {
    if (error instanceof CairnError) throw error
    // Other errors, such as a journal that a reader cannot roll back, are left to the writing connection.
  } finally {
    db?.close()
  }
}

// Above the size that a follower's log reaches between two checkpoints, so that its file is not truncated and regrown
// all the time.
const LOG_LIMIT_BYTES = 64 * 2 ** 20

/** Applies pending migrations. */
function migrateSchema(db: Database): void {
  migrate(drizzle(db), { migrationsFolder: packagePath('migrations') })
}

/** Applies all migrations to an empty database as `migrateSchema` does, in half of the time: their statements are not
 *  prepared one by one. */
function createSchema(db: Database): void {
  migrateTo(db, []) // creates the table of migrations
  db.transaction(() => {
    const add = db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
    for (const { sql, hash, folderMillis } of readMigrations()) {
      db.exec(sql.join(';\n'))
      add.run(hash, folderMillis)
    }
  })()
}

function readMigrations(): ReturnType<typeof readMigrationFiles> {
  return readMigrationFiles({ migrationsFolder: packagePath('migrations') })
}

/** Applies those of the migrations that are pending. The migrator of drizzle-orm accepts a whole folder only; its parts
 *  accept a list. */
function migrateTo(db: Database, migrations: readonly unknown[]): void {
  const { dialect, session } = drizzle(db) as unknown as MigratorParts
  dialect.migrate(migrations, session)
}

/** Opens an empty in-memory database with the schema that the first `count` migrations make. */
export function openSchemaAt(count: number): Database {
  const db = new SqliteDatabase(':memory:')
  migrateTo(db, readMigrations().slice(0, count))
  return db
}

interface MigratorParts {
  readonly dialect: { migrate(migrations: readonly unknown[], session: unknown): void }
  readonly session: unknown
}

function explainNotWritable<T>(datadir: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const { code } = error as { code?: string }
    if (/^(EACCES|EPERM|EROFS|SQLITE_CANTOPEN|SQLITE_READONLY)/.test(code ?? '')) {
      throw new DatabaseNotWritable(datadir, error)
    }
    throw error
  }
}
