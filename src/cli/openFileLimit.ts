import { readFileSync } from 'node:fs'

/** Open files of a server beside its connections: database, WAL and index files of each thread, and pipes of
 *  threads. */
export const OTHER_FILES = 500

/** Returns the soft open-file limit, which Node raises to the hard one at start; infinite if unknown. */
export function openFileLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
