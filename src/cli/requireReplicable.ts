import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../lib/errors.js'
import { createMetaTable, META_STATE_MODE } from '../store/meta.js'
import { DATABASE_FILE, openForReading } from '../store/open.js'
import type { Config } from './config.js'

/** Refuses to replicate a database with sparse state: replicas get the changes of blocks, and not the values that the
 *  writer fetched. @throws UsageError */
export function requireReplicable({ state, datadir }: Config): void {
  if ((readMode(datadir) ?? state) !== 'sparse') return
  throw new UsageError(
    'a database with --state sparse is not replicated: run another server with --state sparse and an upstream of its own',
  )
}

function readMode(datadir: string): string | undefined {
  if (!existsSync(join(datadir, DATABASE_FILE))) return undefined
  const db = openForReading(datadir)
  try {
    return createMetaTable(db).get<string>(META_STATE_MODE)
  } finally {
    db.close()
  }
}
