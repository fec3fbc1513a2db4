import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DATABASE_FILE } from './open.js'

/** Why the disk of a database could not be written. */
interface DiskFailure {
  readonly check: 'disk space' | 'write access' | 'disk'
  /** Names the path, and for a full disk the free bytes of its file system. */
  readonly reason: string
}

const FULL = /^(SQLITE_FULL|ENOSPC|EDQUOT)/
const NOT_WRITABLE = /^(SQLITE_READONLY|SQLITE_CANTOPEN|EROFS|EACCES|EPERM)/
// Less than SQLite adds to its files at once.
const FULL_BYTES = 65_536
const BROKEN = /^(SQLITE_IOERR|EIO)/

/** Describes why a database in `path` could not be written, from the code of an error or of one of its causes;
 *  undefined for other failures. */
export function describeDiskFailure(error: unknown, path: string): DiskFailure | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    const { code } = each as { code?: unknown }
    if (typeof code !== 'string') continue
    if (FULL.test(code)) return { check: 'disk space', reason: describeFullDisk(path) }
    if (NOT_WRITABLE.test(code)) return { check: 'write access', reason: `${path} cannot be written: ${each.message}` }
    if (BROKEN.test(code)) return describeBroken(path, `${each.message} (${code})`)
  }
  return undefined
}

/** Explains a failure by the state of the file system, because SQLite has one code for most failed system calls. */
function describeBroken(path: string, problem: string): DiskFailure {
  if ((freeBytes(path) ?? Number.POSITIVE_INFINITY) < FULL_BYTES) {
    return { check: 'disk space', reason: describeFullDisk(path) }
  }
  const refused = [path, join(path, DATABASE_FILE)].find((each) => !isWritable(each))
  if (refused !== undefined) return { check: 'write access', reason: `${refused} cannot be written: ${problem}` }
  return { check: 'disk', reason: `${path}: ${problem}` }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Describes the full file system of `path`, with its free bytes. */
export function describeFullDisk(path: string): string {
  const free = freeBytes(path)
  const left = free === undefined ? '' : `, ${free.toLocaleString('en')} bytes are free`
  return `no space is left for ${path}${left}`
}

/** Returns the bytes that this user may still write on the file system of `path`; undefined where they cannot be
 *  read. */
function freeBytes(path: string): number | undefined {
  for (const each of [path, dirname(path)]) {
    try {
      const { bavail, bsize } = statfsSync(each)
      return bavail * bsize
    } catch {
      // The file could not be created: its directory is on the same file system.
    }
  }
  return undefined
}
