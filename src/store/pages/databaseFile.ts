import { type BigIntStats, fstatSync, openSync, statSync } from 'node:fs'

/* Descriptors for reading the pages of a database file beside SQLite. POSIX drops all locks that a process has on a file
 * when it closes any of its descriptors (fcntl(2)), those of SQLite among them: readers would lose their snapshots, and
 * another process could checkpoint, or remove the log, under them. So a descriptor of a database or of its WAL index is
 * opened once for each file and never closed. Node closes what a worker thread opened when the thread ends: the main
 * thread opens, and other threads receive the numbers, which are those of the process. */

/** Numbers of the descriptors, valid in all threads of the process. */
export interface DatabaseFile {
  readonly pages: number
  readonly walIndex: number
}

/** Descriptors by device and inode. Open ones keep their inodes from being reused. */
const opened = new Map<string, number>()

/** Opens the file of a database and its WAL index, `PATH-shm`, which exists while a connection is open. Call it on the
 *  main thread. Undefined where one is missing, and on Windows, whose locks forbid it. */
export function openDatabaseFile(path: string): DatabaseFile | undefined {
  if (process.platform === 'win32') return undefined
  const pages = openOnce(path)
  const walIndex = openOnce(walIndexOf(path))
  return pages === undefined || walIndex === undefined ? undefined : { pages, walIndex }
}

/** True if the descriptors are those of the files that a connection has open, which was opened after them by this
 *  path. */
export function isFileOf(path: string, { pages, walIndex }: DatabaseFile): boolean {
  try {
    return isSame(path, pages) && isSame(walIndexOf(path), walIndex)
  } catch {
    return false
  }
}

function walIndexOf(path: string): string {
  return `${path}-shm`
}

/** Returns the descriptor of the file that is at the path. */
function openOnce(path: string): number | undefined {
  try {
    const key = keyOf(statSync(path, { bigint: true }))
    const known = opened.get(key)
    if (known !== undefined) return known
    const descriptor = openSync(path, 'r')
    opened.set(keyOf(fstatSync(descriptor, { bigint: true })), descriptor)
    return descriptor
  } catch {
    return undefined
  }
}

function isSame(path: string, descriptor: number): boolean {
  return keyOf(statSync(path, { bigint: true })) === keyOf(fstatSync(descriptor, { bigint: true }))
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
