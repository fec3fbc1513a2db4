import type { Database } from './database.js'
import { openEmptySchema } from './openForWriting.js'

/** An entry of a database's schema. */
export interface SchemaEntry {
  type: string
  name: string
  tbl_name: string
  sql: string | null
}

/** The entries that this version makes, with those of the same names in an open database: undefined where there is none.
 *  Entries of others, such as an index of an analyst, are left out. */
export function compareSchema(db: Database): { expected: SchemaEntry; found: SchemaEntry | undefined }[] {
  const empty = openEmptySchema()
  try {
    const query = 'SELECT type, name, tbl_name, sql FROM sqlite_schema'
    const held = new Map(
      db
        .prepare<[], SchemaEntry>(query)
        .all()
        .map((entry) => [entry.name, entry]),
    )
    return empty
      .prepare<[], SchemaEntry>(query)
      .all()
      .map((expected) => ({ expected, found: held.get(expected.name) }))
  } finally {
    empty.close()
  }
}

/** Migrations by what was applied, as this version has them and as an open database has them. */
export function compareMigrations(db: Database): { expected: unknown[]; found: unknown[] } {
  const empty = openEmptySchema()
  try {
    const query = 'SELECT hash, created_at FROM __drizzle_migrations ORDER BY id'
    return { expected: empty.prepare(query).all(), found: db.prepare(query).all() }
  } finally {
    empty.close()
  }
}

/** Tables whose next id, kept by SQLite, is below one that they have. */
export function findWrongSequences(db: Database): { table: string; next: unknown; last: number }[] {
  return ['api_keys', 'log_segments', 'transaction_segments']
    .map((table) => ({
      table,
      next: db.prepare<[string], unknown>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) ?? null,
      last: db.prepare<[], number>(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get()!,
    }))
    .filter(({ next, last }) => !(typeof next === 'number' && next >= last) && last > 0)
}
