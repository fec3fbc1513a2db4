import { chmodSync, closeSync, existsSync, fstatSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { link, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { syncPath, withPath } from '../lib/durableFiles.js'
import { CairnError } from '../lib/errors.js'
import { yieldToEventLoop } from '../lib/pause.js'
import { dropForeignObjects } from './cleanCopy.js'
import type { Database } from './database.js'
import { DATABASE_FILE, openAnySchema, requireKnownSchema } from './open.js'

/** Progress and end of a copy. */
export interface CopyOptions {
  /** Called with the bytes copied so far and the total. */
  onProgress(done: number, total: number): void
  readonly signal: AbortSignal
  /** Checks the finished copy before it is renamed into place. `dropped`: the objects that no migration made, removed
   *  from the copy, as `trigger NAME`.
   *  @throws an error that describes the fault */
  check(db: Database, dropped: readonly string[]): void
}

/** The target of a copy exists already. */
export class CopyExists extends CairnError {
  constructor(path: string) {
    super(`${path} is there already; nothing was replaced`)
  }
}

/** The file is not a backup. */
export class NoBackup extends CairnError {
  constructor(path: string, problem: string) {
    super(`${path} is not a backup of Cairn: ${problem}`)
  }
}

// 16 MiB with pages of 4 KiB: the process handles signals and writes progress in between.
const PAGES_PER_STEP = 4096
const CHUNK_BYTES = 8 * 2 ** 20
const SQLITE_MAGIC = 'SQLite format 3\0'

/** Copies the database of `datadir` as it is now into one file, while others read and write it. The file gets its name
 *  once it is checked and on disk. One read transaction spans the copy: otherwise SQLite would restart it at each
 *  commit of a writer (https://sqlite.org/backup.html). Returns the size of the file in bytes.
 *  @throws CopyExists; DatabaseMissing; ForeignSchema; the reason of the signal; errors of `check` */
export async function backUp(datadir: string, target: string, options: CopyOptions): Promise<number> {
  if (existsSync(target)) throw new CopyExists(target)
  const partial = `${target}.partial`
  removeDatabase(partial)
  const source = openAnySchema(datadir)
  try {
    requireKnownSchema(source)
    closeSync(openSync(partial, 'wx', 0o600))
    source.exec('BEGIN')
    source.prepare('SELECT 1 FROM sqlite_schema').get() // takes the snapshot
    const pageBytes = source.pragma('page_size', { simple: true }) as number
    await source.backup(partial, {
      progress: ({ totalPages, remainingPages }) => {
        options.signal.throwIfAborted()
        if (totalPages > 0) options.onProgress((totalPages - remainingPages) * pageBytes, totalPages * pageBytes)
        return PAGES_PER_STEP
      },
    })
    options.signal.throwIfAborted()
    checkCopy(partial, options)
    return await publish(partial, target)
  } catch (error) {
    removeDatabase(partial)
    throw withPath(error, target)
  } finally {
    source.close()
  }
}

/** Copies a backup into `datadir`, which has no database yet. The database appears once it is checked and on disk.
 *  Returns its size in bytes.
 *  @throws CopyExists; NoBackup; DatabaseOfEarlierBuild; DatabaseTooNew; ForeignSchema; the reason of the signal;
 *  errors of `check` */
export async function restoreBackup(backup: string, datadir: string, options: CopyOptions): Promise<number> {
  const target = join(datadir, DATABASE_FILE)
  if (existsSync(target)) throw new CopyExists(target)
  const partial = `${target}.partial`
  removeDatabase(partial)
  try {
    await copyFile(backup, partial, options)
    checkCopy(partial, options, backup)
    return await publish(partial, target)
  } catch (error) {
    removeDatabase(partial)
    throw withPath(error, target)
  }
}

/** Returns the first and the last block of a database of any version; undefined without blocks. */
export function blockRange(db: Database): { first: number; last: number } | undefined {
  const range = db.prepare('SELECT min(number) AS first, max(number) AS last FROM blocks').get()
  const { first, last } = range as { first: number | null; last: number | null }
  return first === null || last === null ? undefined : { first, last }
}

/** Counts the API keys in use in a database of any version. */
export function countApiKeys(db: Database): number {
  return db.prepare<[], number>('SELECT count(*) FROM api_keys WHERE revoked_at IS NULL').pluck().get()!
}

/** Opens a copy and makes it complete in one file, without a write-ahead log. */
export function openCopy(path: string): Database {
  const db = new SqliteDatabase(path)
  try {
    db.pragma('journal_mode = DELETE')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Drops the objects of a copy that no migration made, and checks the rest. Errors about its schema name `original`. */
function checkCopy(path: string, { check }: CopyOptions, original?: string): void {
  const db = openCopy(path)
  try {
    requireKnownSchema(db, original)
    check(db, dropForeignObjects(db))
  } finally {
    db.close()
  }
}

/** Renames the copy into place, unless another process has created the target meanwhile. */
async function publish(partial: string, target: string): Promise<number> {
  syncPath(partial)
  try {
    await link(partial, target)
    await rm(partial)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CopyExists(target)
    await rename(partial, target) // a file system without hard links
  }
  syncPath(dirname(target))
  return (await stat(target)).size
}

async function copyFile(from: string, to: string, { onProgress, signal }: CopyOptions): Promise<void> {
  if (!statSync(from).isFile()) throw new NoBackup(from, 'it is not a regular file') // a FIFO would block
  const source = openSync(from, 'r')
  try {
    const total = fstatSync(source).size
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(total, 1)))
    const target = openSync(to, 'wx', 0o600)
    try {
      for (let done = 0; ; ) {
        signal.throwIfAborted()
        const length = readSync(source, chunk, 0, chunk.length, done)
        if (done === 0 && chunk.toString('latin1', 0, SQLITE_MAGIC.length) !== SQLITE_MAGIC) {
          throw new NoBackup(from, 'it does not begin as an SQLite database does')
        }
        if (length === 0) break
        for (let written = 0; written < length; ) written += writeSync(target, chunk, written, length - written)
        done += length
        onProgress(done, total)
        await yieldToEventLoop()
      }
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
  chmodSync(to, 0o600)
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}
