import { randomBytes } from 'node:crypto'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_LOG_INDEX } from '../../store/meta.js'
import type { KeySecret } from './keyHash.js'
import { CHUNK_BITS } from './postings.js'

/** Settings fixed when the index of a database is created. */
export interface IndexSettings {
  /** Secret of the key hashes. */
  secret: KeySecret
  /** A chunk has 2^chunkBits items, at most 2^16. Smaller chunks are for tests that need all stages with little
   *  data. */
  chunkBits: number
}

/** The settings of a database; undefined before its index is created. */
export function readIndexSettings(db: Database): IndexSettings | undefined {
  return createMetaTable(db).get<IndexSettings>(META_LOG_INDEX)
}

/** The settings of a writable database, created on first use. */
export function requireIndexSettings(db: Database, chunkBits = CHUNK_BITS): IndexSettings {
  const held = readIndexSettings(db)
  if (held) return held
  const bytes = randomBytes(8)
  const settings: IndexSettings = { secret: [bytes.readUInt32LE(0), bytes.readUInt32LE(4)], chunkBits }
  createMetaTable(db).set(META_LOG_INDEX, settings)
  return settings
}
