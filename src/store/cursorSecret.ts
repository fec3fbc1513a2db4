import type { Database } from './database.js'
import { createMetaTable, META_CURSOR_SECRET } from './meta.js'

/** The secret of a database that authenticates cursors, 32 bytes. A copy of the database has the same. */
export function readCursorSecret(db: Database): Uint8Array {
  return Buffer.from(createMetaTable(db).get<string>(META_CURSOR_SECRET)!, 'hex')
}
