import { statSync } from 'node:fs'
import { messageOf } from '../lib/errors.js'
import type { Database } from './database.js'
import { openAnySchema } from './open.js'

/** Checks whether the served database can still be read. Returns undefined or the problem. */
type DatabaseProbe = () => string | undefined

// Probe results are cached this long: clients may poll at any rate, and a probe opens the file and takes half a
// millisecond.
const PROBE_TTL_MS = 250

/** Creates the probe of an open database. Cached pages would still be readable after the file was truncated, so the
 *  probe checks the file: same inode as opened, length as in the header, newest block readable by a new connection. */
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
    knownUntilMs = performance.now() + PROBE_TTL_MS
    return known
  }
}

function readNewest(datadir: string, path: string): string | undefined {
  const db = openAnySchema(datadir)
  try {
    db.pragma('mmap_size = 0') // reading a mapped file beyond its end would kill the process
    return db.transaction(() => {
      db.prepare('SELECT * FROM blocks ORDER BY number DESC LIMIT 1').get()
      const pages = db.pragma('page_count', { simple: true }) as number
      const expected = pages * (db.pragma('page_size', { simple: true }) as number)
      const found = statSync(path).size
      // Missing pages may still be in the write-ahead log.
      const isInLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
      return found < expected && !isInLog ? `${path} has ${found} of ${expected} bytes` : undefined
    })()
  } finally {
    db.close()
  }
}
