import { createByteIds } from '../lib/byteIds.js'
import type { Database } from './database.js'

/** Ids of byte strings in a dictionary table. Unknown values are added. Ids are stable and never reused. */
export interface Dictionary {
  idOf(value: Uint8Array): number
  /** Returns the ids of the values, in their order. Several that are not cached are looked up at once. */
  idsOf(values: readonly Uint8Array[]): Float64Array
  /** Discards cached ids. Call it after a rollback: some may be gone. */
  clear(): void
}

/** The dictionary tables: value column and value length in bytes. */
const TABLES = { addresses: { column: 'address', length: 20 }, topics: { column: 'topic', length: 32 } } as const

// Hot contracts, first topics and the accounts of recent blocks repeat: in about 40 MB. Clearing the cache only costs
// look-ups.
const MAX_CACHED = 1_000_000

/** Values of one statement: each then takes less than half the time of a statement of its own. */
const LOOKED_UP_AT_ONCE = 16

const dictionaries = new WeakMap<Database, Map<string, Dictionary>>()

/** Returns the writer's dictionary over `table`, shared by all that write over the connection. */
export function dictionaryOf(db: Database, table: keyof typeof TABLES): Dictionary {
  const own = dictionaries.get(db) ?? new Map<string, Dictionary>()
  dictionaries.set(db, own)
  const dictionary = own.get(table) ?? createDictionary(db, table)
  own.set(table, dictionary)
  return dictionary
}

function createDictionary(db: Database, table: keyof typeof TABLES): Dictionary {
  const { column, length } = TABLES[table]
  const selectId = `SELECT id FROM ${table} WHERE ${column} = ?`
  const select = db.prepare<[Uint8Array], number>(selectId).pluck()
  const selectMany = db
    .prepare<Uint8Array[], (number | null)[]>(`SELECT ${Array(LOOKED_UP_AT_ONCE).fill(`(${selectId})`).join(', ')}`)
    .raw()
  const insert = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  let cache = createByteIds(length, MAX_CACHED)
  const add = (value: Uint8Array, found: number | null | undefined) => {
    const id = found ?? Number(insert.run(value).lastInsertRowid)
    cache.add(value, id)
    return id
  }
  const idOf = (value: Uint8Array) => cache.get(value) ?? add(value, select.get(value))
  return {
    idOf,
    idsOf: (values) => {
      const ids = new Float64Array(values.length)
      const waiting: number[] = []
      for (let i = 0; i < values.length; i++) {
        const id = cache.get(values[i])
        if (id === undefined) waiting.push(i)
        else ids[i] = id
      }
      const alone = waiting.length % LOOKED_UP_AT_ONCE
      for (let at = 0; at < waiting.length - alone; at += LOOKED_UP_AT_ONCE) {
        const some = waiting.slice(at, at + LOOKED_UP_AT_ONCE)
        const found = selectMany.get(...some.map((i) => values[i]))!
        for (const [j, i] of some.entries()) ids[i] = cache.get(values[i]) ?? add(values[i], found[j])
      }
      for (const i of waiting.slice(waiting.length - alone)) ids[i] = idOf(values[i])
      return ids
    },
    clear: () => {
      cache = createByteIds(length, MAX_CACHED)
    },
  }
}

// Ids that readers look up again and again: 200 kB.
const MAX_LOOKED_UP = 4096

/** Returns a function that looks up the ids of values, which may be unknown. Its statement is prepared once, and ids,
 *  which never change, are cached. */
export function createIdLookup(db: Database, table: keyof typeof TABLES): (value: Uint8Array) => number | undefined {
  const { column, length } = TABLES[table]
  const select = db.prepare<[Uint8Array], number>(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  // A writer may roll back what it has added.
  if (!db.readonly) return (value) => select.get(value)
  const cache = createByteIds(length, MAX_LOOKED_UP)
  return (value) => {
    const known = cache.get(value)
    if (known !== undefined) return known
    const id = select.get(value)
    if (id !== undefined) cache.add(value, id)
    return id
  }
}

/** Returns a function that looks up the bytes of an id; it throws an Error for an unknown id. Its statement is prepared
 *  once. A look-up takes 1.5 µs. */
export function createValueReader(db: Database, table: keyof typeof TABLES): (id: number) => Buffer {
  const { column } = TABLES[table]
  const select = db.prepare<[number], Buffer>(`SELECT ${column} FROM ${table} WHERE id = ?`).pluck()
  return (id) => {
    const stored = select.get(id)
    if (stored === undefined) throw new Error(`a log names ${column} ${id}, which the table ${table} lacks`)
    return stored
  }
}

/** Returns a function that looks up the value of an id, as `decode` returns it; it throws an Error for an unknown id.
 *  Its statement is prepared once, and `most` results, which never change, are cached. Do not modify them. */
export function createValueLookup(
  db: Database,
  table: keyof typeof TABLES,
  { most, decode = (value) => value }: { most: number; decode?(value: Buffer): Uint8Array },
): (id: number) => Uint8Array {
  const read = createValueReader(db, table)
  const cache = new Map<number, Uint8Array>()
  return (id) => {
    let value = cache.get(id)
    if (value === undefined) {
      value = decode(read(id))
      if (cache.size === most) cache.clear()
      cache.set(id, value)
    }
    return value
  }
}
