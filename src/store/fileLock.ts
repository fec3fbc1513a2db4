import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import type { Database } from './database.js'

/** Holds a lock that ends with the process in any case: an open exclusive transaction on a database of its own at
 *  `path`, readable by this user only. Closing it releases the lock. Undefined when another process holds it. */
export function holdLock(path: string): Database | undefined {
  createPrivately(path)
  tighten(path)
  const lock = new SqliteDatabase(path, { timeout: 0 })
  try {
    lock.pragma('locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
}

/** Creates an empty file readable by this user only, unless it exists. An existing file is not opened: closing it would
 *  release this process's locks on it (POSIX `fcntl`). */
export function createPrivately(path: string): void {
  if (existsSync(path)) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
}

/** Removes access for others from a file of this user: whoever can read the lock file can hold the lock. */
function tighten(path: string): void {
  const { mode, uid } = statSync(path)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o600)
}
