import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SqliteDatabase from 'better-sqlite3'
import { CairnError, messageOf } from '../lib/errors.js'
import type { Database } from './database.js'
import { keepPlans } from './keepPlans.js'

/** The database file in a data directory. */
export const DATABASE_FILE = 'cairn.db'

/** Another process holds the writer lock of this data directory. */
export class DatabaseLocked extends CairnError {
  constructor(path: string) {
    super(`${path} is being written by another cairn process; wait for it to end, or use another --datadir`)
  }
}

/** No database to read in the data directory. */
export class DatabaseMissing extends CairnError {
  constructor(path: string) {
    super(`no database at ${path}; run 'cairn import' first, or point --datadir at a directory that has one`)
  }
}

/** The data directory or its database is not writable. */
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

/** SQLite cannot create the files it needs to read a database in WAL mode. */
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

/** The database was created by a later version. */
export class DatabaseTooNew extends CairnError {
  readonly found: number
  readonly known: number
  constructor(path: string, { found, known }: { found: number; known: number }) {
    super(`${path}: schema version ${found} is newer than this build's ${known}; upgrade Cairn`)
    this.found = found
    this.known = known
  }
}

/** The database was made by a build whose migrations are not those of this one. */
export class DatabaseOfEarlierBuild extends CairnError {
  constructor(path: string) {
    super(
      `${path} was made by an earlier build of Cairn, and this build cannot migrate it; import the chain again into another ` +
        '--datadir, or use the build that made it',
    )
  }
}

/** The database has the schema of an older version. */
export class DatabaseOutdated extends CairnError {
  constructor(path: string) {
    super(
      `${path} is of an older version; run 'cairn migrate' to bring it up to date (the next import, sync or reindex does so, too)`,
    )
  }
}

/** The database file has no table: no import has begun, or it belongs to another program. */
export class DatabaseEmpty extends CairnError {
  constructor(path: string) {
    super(`${path} has no chain in it; run 'cairn import' first, or choose another --datadir`)
  }
}

const WRONG_USE = [
  ...[DatabaseMissing, DatabaseEmpty, DatabaseNotReadable],
  ...[DatabaseOfEarlierBuild, DatabaseOutdated, DatabaseTooNew],
]

/** True for a database that the command cannot use, as opposed to one that failed: the exit code is 2. */
export function isWrongDatabase(error: unknown): boolean {
  return WRONG_USE.some((kind) => error instanceof kind)
}

/** Opens the database of `datadir` read-only and requires the schema of this version, so that readers can rely on its
 *  tables and columns.
 *  @throws DatabaseMissing; DatabaseEmpty; DatabaseOfEarlierBuild; DatabaseOutdated; DatabaseTooNew;
 *  DatabaseNotReadable when SQLite cannot create its files beside the database */
export function openForReading(datadir: string): Database {
  const db = openAnySchema(datadir)
  try {
    requireCurrentSchema(db)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

/** As `openForReading`, with the schema of any version: for code that checks whether a database exists, migrates it or
 *  copies it whole. @throws DatabaseMissing; DatabaseNotReadable */
export function openAnySchema(datadir: string): Database {
  const path = join(datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const db = new SqliteDatabase(path, { readonly: true })
  try {
    tune(db)
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  } catch (error) {
    const { code } = error as { code?: string }
    if (!/^SQLITE_(CANTOPEN|READONLY)/.test(code ?? '')) return db // its reader reports other errors
    db.close()
    throw new DatabaseNotReadable(path, error)
  }
  return db
}

/** Checks that an open database has the schema of this version. @throws DatabaseEmpty, DatabaseOfEarlierBuild,
 *  DatabaseOutdated, DatabaseTooNew */
export function requireCurrentSchema(db: Database): void {
  const { found, known } = requireKnownSchema(db)
  if (found === 0) throw new DatabaseEmpty(db.name)
  if (found < known) throw new DatabaseOutdated(db.name)
}

/** Returns the number of migrations applied to an open database (`found`) and of those that this version has (`known`).
 *  Errors call it `path`.
 *  @throws DatabaseOfEarlierBuild when the applied ones are not the first of this version's; DatabaseTooNew */
export function requireKnownSchema(db: Database, path = db.name): { found: number; known: number } {
  const applied = appliedMigrations(db)
  const known = knownMigrations()
  if (applied.some((time, i) => i < known.length && time !== known[i])) throw new DatabaseOfEarlierBuild(path)
  const versions = { found: applied.length, known: known.length }
  if (versions.found > versions.known) throw new DatabaseTooNew(path, versions)
  return versions
}

/** Returns the times of the applied migrations, ascending. A migration is identified by its time, as drizzle does. */
function appliedMigrations(db: Database): unknown[] {
  const begun = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get() !== undefined
  return begun ? db.prepare('SELECT created_at FROM __drizzle_migrations ORDER BY created_at').pluck().all() : []
}

function knownMigrations(): number[] {
  const text = readFileSync(packagePath('migrations/meta/_journal.json'), 'utf8')
  return (JSON.parse(text) as { entries: { when: number }[] }).entries.map(({ when }) => when)
}

/** Sets the pragmas common to all connections. */
export function tune(db: Database): void {
  keepPlans(db)
  db.pragma('mmap_size = 2147483648') // halves scattered reads
  db.pragma('cache_size = -65536') // 64 MiB; negative is KiB
  db.pragma('temp_store = MEMORY')
}

/** Absolute path of a file of the package. The package.json above this module marks the package root.
 *  @throws Error where no folder above the program has one */
export function packagePath(name: string): string {
  return join(findPackage(dirname(fileURLToPath(import.meta.url))), name)
}

/** Returns the nearest folder with a package.json, `start` or above it. @throws Error if missing */
export function findPackage(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (dirname(folder) === folder) {
      throw new Error(
        `no package.json in ${start} or above it: the program was moved out of its package; install it again`,
      )
    }
  }
}
