import type { Database } from '../database.js'

/** The values of a dictionary table in hex, by id. */
export interface HexDictionary {
  /** Lower-case hex digits in ASCII; do not modify. @throws Error for an unknown id */
  digitsOf(id: number): Uint8Array
}

const COLUMNS = { addresses: 'address', topics: 'topic' } as const

// About 2 MB. A few contracts and events emit most logs, and a miss costs 2 µs.
const MAX_KEPT = 10_000

/** Creates a dictionary that caches its digits, which never expire: an id never changes its value. */
export function createHexDictionary(db: Database, table: keyof typeof COLUMNS): HexDictionary {
  const column = COLUMNS[table]
  const select = db.prepare<[number], Buffer>(`SELECT ${column} FROM ${table} WHERE id = ?`).pluck()
  const kept = new Map<number, Uint8Array>()
  return {
    digitsOf: (id) => {
      let digits = kept.get(id)
      if (digits === undefined) {
        const value = select.get(id)
        if (value === undefined) throw new Error(`a log names ${column} ${id}, which the table ${table} lacks`)
        digits = Buffer.from(value.toString('hex'), 'latin1')
        if (kept.size === MAX_KEPT) kept.clear()
        kept.set(id, digits)
      }
      return digits
    },
  }
}
