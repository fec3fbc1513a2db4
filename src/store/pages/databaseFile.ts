import { type BigIntStats, closeSync, fstatSync, openSync, statSync } from 'node:fs'

/* Descriptors for reading the pages of a database file beside SQLite. POSIX drops all locks that a process has on a
 * file when it closes any of its descriptors (fcntl(2)), those of SQLite among them: readers would lose their
 * snapshots, and another process could checkpoint, or remove the log, under them. So a descriptor of a database or of
 * its WAL index is opened once for each file, and closed only when the file was removed and nothing reads it. Node
 * closes what a worker thread opened when the thread ends: the main thread opens, and other threads receive the
 * numbers, which are those of the process. */

/** Numbers of the descriptors, valid in all threads of the process. */
export interface DatabaseFile {
  readonly pages: number
  /** The write-ahead log. */
  readonly wal: number
  readonly walIndex: number
}

/** Descriptors in use. */
export interface OpenDatabaseFile {
  readonly file: DatabaseFile
  /** Call it when no thread reads them any more. */
  release(): void
}

interface Descriptor {
  readonly number: number
  users: number
}

/** Descriptors by device and inode. Open ones keep their inodes from being reused. */
const opened = new Map<string, Descriptor>()

/** Opens the file of a database, its write-ahead log and its WAL index, which exist while a connection is open. Call it
 *  on the main thread. Undefined where one is missing, and on Windows, whose locks forbid it. */
export function openDatabaseFile(path: string): OpenDatabaseFile | undefined {
  if (process.platform === 'win32') return undefined
  closeRemoved()
  const [pages, wal, walIndex] = pathsOf(path).map(openOnce)
  if (pages === undefined || wal === undefined || walIndex === undefined) return undefined
  const descriptors = [pages, wal, walIndex]
  for (const descriptor of descriptors) descriptor.users++
  return {
    file: { pages: pages.number, wal: wal.number, walIndex: walIndex.number },
    release: () => {
      for (const descriptor of descriptors) descriptor.users--
    },
  }
}

/** True if the descriptors are those of the files that a connection has open, which was opened after them by this
 *  path. */
export function isFileOf(path: string, { pages, wal, walIndex }: DatabaseFile): boolean {
  const descriptors = [pages, wal, walIndex]
  try {
    return pathsOf(path).every((each, i) => isSame(each, descriptors[i]))
  } catch {
    return false
  }
}

/** The paths of a database, its write-ahead log and its WAL index. */
function pathsOf(path: string): string[] {
  return ['', '-wal', '-shm'].map((suffix) => path + suffix)
}

/** Returns the descriptor of the file that is at the path. */
function openOnce(path: string): Descriptor | undefined {
  try {
    const known = opened.get(keyOf(statSync(path, { bigint: true })))
    if (known !== undefined) return known
    const descriptor = { number: openSync(path, 'r'), users: 0 }
    opened.set(keyOf(fstatSync(descriptor.number, { bigint: true })), descriptor)
    return descriptor
  } catch {
    return undefined
  }
}

/** Closes the descriptors of removed files, which would occupy the disk. These files cannot be opened again, so their
 *  locks do not matter. */
function closeRemoved(): void {
  for (const [key, { number, users }] of opened) {
    if (users > 0 || fstatSync(number).nlink > 0) continue
    opened.delete(key)
    closeSync(number)
  }
}

function isSame(path: string, descriptor: number): boolean {
  return keyOf(statSync(path, { bigint: true })) === keyOf(fstatSync(descriptor, { bigint: true }))
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
