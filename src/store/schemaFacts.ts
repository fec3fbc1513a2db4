import type { Database } from './database.js'
import { requireKnownSchema } from './open.js'
import { openSchemaAt } from './openForWriting.js'

/** An entry of `sqlite_schema`. */
export interface SchemaEntry {
  type: string
  name: string
  tbl_name: string
  sql: string | null
}

/** An entry as `trigger NAME`. */
export function describeEntry({ type, name }: SchemaEntry): string {
  return `${type} ${name}`
}

/** How a schema compares with that of the migrations. */
interface SchemaComparison {
  /** Each entry that the migrations make, with the entry of the same type and name in the database; undefined when
   *  missing. */
  readonly entries: readonly { readonly expected: SchemaEntry; readonly found: SchemaEntry | undefined }[]
  /** Entries that no migration makes: triggers, tables, views and indexes of others, and statistics of ANALYZE. */
  readonly foreign: readonly SchemaEntry[]
  /** Rows of `__drizzle_migrations`. */
  readonly migrations: { readonly expected: readonly unknown[]; readonly found: readonly unknown[] }
}

/** Compares the schema of an open database with the one that its number of migrations makes. */
export function compareSchema(db: Database): SchemaComparison {
  const made = openSchemaAt(requireKnownSchema(db).found)
  try {
    const [expected, found] = [made, db].map((each) => ({
      entries: each.prepare<[], SchemaEntry>('SELECT type, name, tbl_name, sql FROM sqlite_schema').all(),
      migrations: each.prepare('SELECT hash, created_at FROM __drizzle_migrations ORDER BY created_at').all(),
    }))
    const keyOf = describeEntry // a trigger may have the name of a table
    const foundByKey = new Map(found.entries.map((entry) => [keyOf(entry), entry]))
    const known = new Set(expected.entries.map(keyOf))
    return {
      entries: expected.entries.map((entry) => ({ expected: entry, found: foundByKey.get(keyOf(entry)) })),
      foreign: found.entries.filter((entry) => !known.has(keyOf(entry))),
      migrations: { expected: expected.migrations, found: found.migrations },
    }
  } finally {
    made.close()
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
