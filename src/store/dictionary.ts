import { keyOfBytes } from '../lib/bytes.js'
import type { Database } from './open.js'

/** Ids of byte strings in a dictionary table; new ones are added. Ids are stable and never reused. */
export interface Dictionary {
  idOf(value: Uint8Array): number
}

// Hot contracts and first topics repeat; a cleared cache only costs look-ups.
const MAX_CACHED = 200_000

/** The writer's dictionary over `table`, whose columns are `id` and `column`. After a rolled-back transaction it must be
 *  made anew, since it may know ids that are gone. */
export function createDictionary(db: Database, table: 'addresses' | 'topics', column: string): Dictionary {
  const select = db.prepare<[Uint8Array], number>(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const insert = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const cache = new Map<string, number>()
  return {
    idOf: (value) => {
      const key = keyOfBytes(value)
      let id = cache.get(key)
      if (id === undefined) {
        id = select.get(value) ?? Number(insert.run(value).lastInsertRowid)
        if (cache.size >= MAX_CACHED) cache.clear()
        cache.set(key, id)
      }
      return id
    },
  }
}
