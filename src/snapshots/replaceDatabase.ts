import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath } from '../lib/durableFiles.js'
import { DATABASE_FILE } from '../store/open.js'
import { openForWriting } from '../store/openForWriting.js'
import { carryKeys } from '../store/snapshotCopy.js'

/** The folder in the data directory for a database that a snapshot replaces. */
export const REPLACED = 'cairn.replaced'

/** Moves the database of a data directory aside. No process may have it open. */
export function setAside(datadir: string): void {
  const folder = join(datadir, REPLACED)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const suffix of ['', '-wal', '-shm']) {
    const path = join(datadir, DATABASE_FILE + suffix)
    if (existsSync(path)) renameSync(path, join(folder, DATABASE_FILE + suffix))
  }
  syncPath(folder)
  syncPath(datadir)
}

/** Copies the API keys of the database that was moved aside into the restored one, then removes the old one, if any. */
export function finishReplacing(datadir: string): void {
  const folder = join(datadir, REPLACED)
  const old = join(folder, DATABASE_FILE)
  if (existsSync(old)) {
    const db = openForWriting(datadir)
    try {
      carryKeys(old, db)
    } finally {
      db.close()
    }
  }
  rmSync(folder, { recursive: true, force: true })
}
