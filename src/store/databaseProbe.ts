import { statSync } from 'node:fs'
import { messageOf } from '../lib/errors.js'
import type { Database } from './database.js'
import { openForReading } from './open.js'

/** Says whether a database that is being served can still be read: undefined, or what is wrong with it. */
export type DatabaseProbe = () => string | undefined

// Probes come from outside, as often as somebody likes; one opens the file and takes half a millisecond.
const KEPT_MS = 250

/** The probe of an open database. Pages that lie in memory would answer after the file is cut, so it looks at the file: whether
 *  it is the one that was opened, whether it is as long as its header says, and whether a new connection can read the newest
 *  block. */
export function createDatabaseProbe(db: Database, datadir: string): DatabaseProbe {
  const { ino, dev } = statSync(db.name)
  let known: string | undefined
  let knownUntilMs = 0
  const look = (): string | undefined => {
    const now = statSync(db.name)
    if (now.ino !== ino || now.dev !== dev) return `${db.name} was replaced; restart the server to serve the new file`
    return readNewest(datadir, db.name)
  }
  return () => {
    if (performance.now() < knownUntilMs) return known
    try {
      known = look()
    } catch (error) {
      known = messageOf(error)
    }
    knownUntilMs = performance.now() + KEPT_MS
    return known
  }
}

function readNewest(datadir: string, path: string): string | undefined {
  const db = openForReading(datadir)
  try {
    db.pragma('mmap_size = 0') // behind the end of a file that is mapped, reading would end the process
    return db.transaction(() => {
      db.prepare('SELECT * FROM blocks ORDER BY number DESC LIMIT 1').get()
      const pages = db.pragma('page_count', { simple: true }) as number
      const expected = pages * (db.pragma('page_size', { simple: true }) as number)
      const found = statSync(path).size
      // What the file lacks may still be in the write-ahead log.
      const isInLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
      return found < expected && !isInLog ? `${path} has ${found} of ${expected} bytes` : undefined
    })()
  } finally {
    db.close()
  }
}
