import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SqliteDatabase from 'better-sqlite3'
import { CairnError } from '../lib/errors.js'

export type Database = SqliteDatabase.Database
export type Statement = SqliteDatabase.Statement

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

/** A database that was made by an older version, with another schema. */
export class DatabaseOutdated extends CairnError {
  constructor(path: string) {
    super(`${path} is of an older version; the next 'cairn import' or 'cairn reindex' brings it up to date`)
  }
}

/** Opens the database of `datadir` for writing, makes it when it is not there, and brings its schema up to date.
 *  The writer's lock is a database of its own with an open exclusive transaction, so that it ends with the process
 *  however that ends.
 *  @throws DatabaseLocked when another process writes it. */
export function openForWriting(datadir: string): Database {
  mkdirSync(datadir, { recursive: true })
  const lock = new SqliteDatabase(join(datadir, 'cairn.lock'), { timeout: 0 })
  try {
    lock.pragma('locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new DatabaseLocked(join(datadir, DATABASE_FILE))
    throw error
  }
  const db = new SqliteDatabase(join(datadir, DATABASE_FILE))
  const close = db.close.bind(db)
  db.close = () => {
    close()
    lock.close()
    return db
  }
  tune(db)
  db.pragma('journal_mode = WAL')
  // NORMAL in WAL mode: a power cut may lose the last transactions, never corrupt; kill -9 loses nothing committed.
  db.pragma('synchronous = NORMAL')
  // Fewer checkpoints than the default 1,000 pages: measured better on bulk loads (docs/architecture.md).
  db.pragma('wal_autocheckpoint = 16000')
  db.unsafeMode(true) // 0007_wide_timestamps changes sqlite_schema
  migrateSchema(db)
  db.unsafeMode(false)
  return db
}

/** Applies the migrations that the database does not have. The migrator is 111 modules, which take 70 ms to load: threads
 *  that read only do without. */
function migrateSchema(db: Database): void {
  const load = createRequire(import.meta.url)
  const { drizzle } = load('drizzle-orm/better-sqlite3') as typeof import('drizzle-orm/better-sqlite3')
  const { migrate } = load(
    'drizzle-orm/better-sqlite3/migrator',
  ) as typeof import('drizzle-orm/better-sqlite3/migrator')
  migrate(drizzle(db), { migrationsFolder: packagePath('migrations') })
}

/** Opens the database of `datadir` read-only. @throws DatabaseMissing when there is none. */
export function openForReading(datadir: string): Database {
  const path = join(datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const db = new SqliteDatabase(path, { readonly: true })
  tune(db)
  return db
}

/** @throws DatabaseOutdated unless the schema of a database opened for reading is that of this version, or a later one. */
export function requireCurrentSchema(db: Database): void {
  const journal = JSON.parse(readFileSync(packagePath('migrations/meta/_journal.json'), 'utf8')) as {
    entries: unknown[]
  }
  const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get() !== undefined
  const applied = known ? db.prepare<[], number>('SELECT count(*) FROM __drizzle_migrations').pluck().get()! : 0
  if (applied < journal.entries.length) throw new DatabaseOutdated(db.name)
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
