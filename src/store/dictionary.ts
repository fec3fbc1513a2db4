import { createByteIds } from '../lib/byteIds.js'
import type { Database } from './database.js'

/** Ids of byte strings in a dictionary table. Unknown values are added. Ids are stable and never reused. */
export interface Dictionary {
  idOf(value: Uint8Array): number
}

/** The dictionary tables: value column and value length in bytes. */
const TABLES = { addresses: { column: 'address', length: 20 }, topics: { column: 'topic', length: 32 } } as const

// Hot contracts and first topics repeat. Clearing the cache only costs look-ups.
const MAX_CACHED = 200_000

/** The writer's dictionary over `table`. Recreate it after a rollback: it may cache ids that are gone. */
export function createDictionary(db: Database, table: keyof typeof TABLES): Dictionary {
  const { column, length } = TABLES[table]
  const select = db.prepare<[Uint8Array], number>(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const insert = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const cache = createByteIds(length, MAX_CACHED)
  return {
    idOf: (value) => {
      let id = cache.get(value)
      if (id === undefined) {
        id = select.get(value) ?? Number(insert.run(value).lastInsertRowid)
        cache.add(value, id)
      }
      return id
    },
  }
}

/** Returns a function that looks up the ids of values, which may be unknown. Its statement is prepared once. */
export function createIdLookup(db: Database, table: keyof typeof TABLES): (value: Uint8Array) => number | undefined {
  const select = db.prepare<[Uint8Array], number>(`SELECT id FROM ${table} WHERE ${TABLES[table].column} = ?`).pluck()
  return (value) => select.get(value)
}
