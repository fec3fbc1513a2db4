import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SqliteDatabase from 'better-sqlite3'
import { CairnError, messageOf } from '../lib/errors.js'
import type { Database } from './database.js'
import { writeSeals } from './seals.js'

/** The database file in a data directory. */
export const DATABASE_FILE = 'cairn.db'

/** Another process holds the writer's lock of this data directory. */
export class DatabaseLocked extends CairnError {
  constructor(path: string) {
    super(`${path} is being written by another cairn process; wait for it to end, or use another --datadir`)
  }
}

/** There is no database where one was to be read. */
export class DatabaseMissing extends CairnError {
  constructor(path: string) {
    super(`no database at ${path}; run 'cairn import' first, or point --datadir at a directory that has one`)
  }
}

/** The data directory, or the database in it, may not be written. */
export class DatabaseNotWritable extends CairnError {
  constructor(datadir: string, cause: unknown) {
    super(
      `${datadir} cannot be written: ${messageOf(cause)}; make it writable for this user, or use another --datadir`,
      {
        cause,
      },
    )
  }
}

/** A database in WAL mode lies where SQLite cannot make the files that reading it needs. */
export class DatabaseNotReadable extends CairnError {
  constructor(path: string, cause: unknown) {
    super(
      `${path} cannot be opened: ${messageOf(cause)}. To read a database in WAL mode, SQLite writes ${DATABASE_FILE}-shm beside ` +
        'it: on a read-only file system, or as another user, serve a copy in a directory that this user may write, or first ' +
        `run: sqlite3 ${DATABASE_FILE} 'PRAGMA journal_mode = DELETE'`,
      { cause },
    )
  }
}

/** A database that a later version made. */
export class DatabaseTooNew extends CairnError {
  readonly found: number
  readonly known: number
  constructor(path: string, { found, known }: { found: number; known: number }) {
    super(`${path}: schema version ${found} is newer than this build's ${known}; upgrade Cairn`)
    this.found = found
    this.known = known
  }
}

/** A database that was made by an older version, with another schema. */
export class DatabaseOutdated extends CairnError {
  constructor(path: string) {
    super(`${path} is of an older version; the next 'cairn import' or 'cairn reindex' brings it up to date`)
  }
}

/** Opens the database of `datadir` for writing, makes it when it is not there, and brings its schema up to date. What it
 *  makes, only this user may read: other users would see the hashes of API keys, and could hold the lock.
 *  The writer's lock is a database of its own with an open exclusive transaction, so that it ends with the process
 *  however that ends.
 *  @throws DatabaseLocked when another process writes it; DatabaseTooNew when a later version made it;
 *    DatabaseNotWritable. */
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
    close()
    lock.close()
    return db
  }
  return db
}

function openLock(datadir: string): Database {
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  const path = join(datadir, 'cairn.lock')
  createPrivately(path)
  tighten(path)
  const lock = new SqliteDatabase(path, { timeout: 0 })
  try {
    lock.pragma('locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new DatabaseLocked(join(datadir, DATABASE_FILE))
    throw error
  }
  return lock
}

function openWriter(datadir: string): Database {
  const path = join(datadir, DATABASE_FILE)
  createPrivately(path) // SQLite gives the files of the write-ahead log the same mode
  const db = new SqliteDatabase(path)
  try {
    const { found, known } = requireKnownSchema(db)
    tune(db)
    db.pragma('journal_mode = WAL')
    // NORMAL in WAL mode: a power cut may lose the last transactions, never corrupt; kill -9 loses nothing committed.
    db.pragma('synchronous = NORMAL')
    // Fewer checkpoints than the default 1,000 pages: measured better on bulk loads (docs/architecture.md).
    db.pragma('wal_autocheckpoint = 16000')
    migrateSchema(db)
    writeSeals(db, { anew: found < known }) // migrations change what is sealed
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

/** Applies the migrations that the database does not have. The migrator is 111 modules, which take 70 ms to load: threads
 *  that read only do without. */
function migrateSchema(db: Database): void {
  db.unsafeMode(true) // 0007_wide_timestamps changes sqlite_schema
  const load = createRequire(import.meta.url)
  const { drizzle } = load('drizzle-orm/better-sqlite3') as typeof import('drizzle-orm/better-sqlite3')
  const { migrate } = load(
    'drizzle-orm/better-sqlite3/migrator',
  ) as typeof import('drizzle-orm/better-sqlite3/migrator')
  migrate(drizzle(db), { migrationsFolder: packagePath('migrations') })
  db.unsafeMode(false)
}

/** Makes an empty file that only this user may read, unless there is one. One that is there is not opened: to close it would
 *  end this process's locks on it (POSIX, `fcntl`). */
function createPrivately(path: string): void {
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
}

/** Takes others' access to a file of this user: whoever can read the lock can hold it. */
function tighten(path: string): void {
  const { mode, uid } = statSync(path)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o600)
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

/** Opens the database of `datadir` read-only. @throws DatabaseMissing when there is none; DatabaseNotReadable when SQLite
 *  cannot make what it needs beside it. */
export function openForReading(datadir: string): Database {
  const path = join(datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const db = new SqliteDatabase(path, { readonly: true })
  try {
    tune(db)
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  } catch (error) {
    const { code } = error as { code?: string }
    if (!/^SQLITE_(CANTOPEN|READONLY)/.test(code ?? '')) return db // what is wrong with it, its reader is told
    db.close()
    throw new DatabaseNotReadable(path, error)
  }
  return db
}

/** @throws DatabaseOutdated or DatabaseTooNew unless the schema of an open database is that of this version. */
export function requireCurrentSchema(db: Database): void {
  const { found, known } = requireKnownSchema(db)
  if (found < known) throw new DatabaseOutdated(db.name)
}

function requireKnownSchema(db: Database): { found: number; known: number } {
  const versions = schemaVersions(db)
  if (versions.found > versions.known) throw new DatabaseTooNew(db.name, versions)
  return versions
}

/** How many migrations an open database has seen, and how many this version has. */
function schemaVersions(db: Database): { found: number; known: number } {
  const journal = JSON.parse(readFileSync(packagePath('migrations/meta/_journal.json'), 'utf8')) as {
    entries: unknown[]
  }
  const begun = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get() !== undefined
  const found = begun ? db.prepare<[], number>('SELECT count(*) FROM __drizzle_migrations').pluck().get()! : 0
  return { found, known: journal.entries.length }
}

/** An empty database in memory with the schema of this version. */
export function openEmptySchema(): Database {
  const db = new SqliteDatabase(':memory:')
  migrateSchema(db)
  return db
}

function tune(db: Database): void {
  db.pragma('mmap_size = 2147483648') // halves scattered reads
  db.pragma('cache_size = -65536') // 64 MiB; negative is KiB
  db.pragma('temp_store = MEMORY')
}

/** The absolute path of a file that ships with the package, found from its package.json upwards of this module. */
export function packagePath(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return join(folder, name)
}
