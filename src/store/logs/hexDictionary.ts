import type { Database } from '../database.js'

/** Texts with the values of a dictionary table in hex, by their ids. */
export interface HexDictionary {
  /** ASCII, not to be changed. @throws Error when no value has the id */
  textOf(id: number): Uint8Array
}

const COLUMNS = { addresses: 'address', topics: 'topic' } as const

// About 2 MB. Few contracts and events have most logs, and a miss costs 2 µs.
const MAX_KEPT = 10_000

/** A dictionary that keeps the texts it has made, `format` of the lower-case digits: an id never gets another value. */
export function createHexDictionary(
  db: Database,
  table: keyof typeof COLUMNS,
  format: (digits: string) => string,
): HexDictionary {
  const column = COLUMNS[table]
  const select = db.prepare<[number], Buffer>(`SELECT ${column} FROM ${table} WHERE id = ?`).pluck()
  const kept = new Map<number, Uint8Array>()
  return {
    textOf: (id) => {
      let text = kept.get(id)
      if (text === undefined) {
        const value = select.get(id)
        if (value === undefined) throw new Error(`a log names ${column} ${id}, which the table ${table} lacks`)
        text = Buffer.from(format(value.toString('hex')), 'latin1')
        if (kept.size === MAX_KEPT) kept.clear()
        kept.set(id, text)
      }
      return text
    },
  }
}
