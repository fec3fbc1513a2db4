import type { Database } from './database.js'
import { openEmptySchema } from './openForWriting.js'

/** An entry of `sqlite_schema`. */
export interface SchemaEntry {
  type: string
  name: string
  tbl_name: string
  sql: string | null
}

/** The schema entries of this version, and the entries of the same names in an open database; undefined when missing.
 *  Other entries, such as an analyst's index, are ignored. */
export function compareSchema(db: Database): { expected: SchemaEntry; found: SchemaEntry | undefined }[] {
  const empty = openEmptySchema()
  try {
    const query = 'SELECT type, name, tbl_name, sql FROM sqlite_schema'
    const entries = new Map(
      db
        .prepare<[], SchemaEntry>(query)
        .all()
        .map((entry) => [entry.name, entry]),
    )
    return empty
      .prepare<[], SchemaEntry>(query)
      .all()
      .map((expected) => ({ expected, found: entries.get(expected.name) }))
  } finally {
    empty.close()
  }
}

/** Hashes of the migrations of this version and of those applied to an open database. */
export function compareMigrations(db: Database): { expected: unknown[]; found: unknown[] } {
  const empty = openEmptySchema()
  try {
    const query = 'SELECT hash, created_at FROM __drizzle_migrations ORDER BY id'
    return { expected: empty.prepare(query).all(), found: db.prepare(query).all() }
  } finally {
    empty.close()
  }
}

/** Tables whose AUTOINCREMENT sequence is below their largest id. */
export function findWrongSequences(db: Database): { table: string; next: unknown; last: number }[] {
  return ['api_keys', 'log_segments', 'transaction_segments', 'address_segments']
    .map((table) => ({
      table,
      next: db.prepare<[string], unknown>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) ?? null,
      last: db.prepare<[], number>(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get()!,
    }))
    .filter(({ next, last }) => !(typeof next === 'number' && next >= last) && last > 0)
}
