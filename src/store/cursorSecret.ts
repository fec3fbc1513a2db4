import type { Database } from './database.js'
import { createMetaTable, META_CURSOR_SECRET } from './meta.js'

/** The 32-byte secret that authenticates cursors of this database. A copy of the database shares it. */
export function readCursorSecret(db: Database): Uint8Array {
  return Buffer.from(createMetaTable(db).get<string>(META_CURSOR_SECRET)!, 'hex')
}
