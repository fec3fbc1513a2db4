import type { Database } from '../database.js'

/** Values of a dictionary table in hex, by their ids. */
export interface HexDictionary {
  /** Lower-case hex digits in ASCII, not to be changed. @throws Error when no value has the id */
  digitsOf(id: number): Uint8Array
}

const COLUMNS = { addresses: 'address', topics: 'topic' } as const

// About 2 MB. Few contracts and events have most logs, and a miss costs 2 µs.
const MAX_KEPT = 10_000

/** A dictionary that keeps the digits it has made: an id never gets another value. */
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
