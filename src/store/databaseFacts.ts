import { statSync } from 'node:fs'
import type { Database } from './database.js'

/** Returns a function that reads the schema version, the number of applied migrations. Its statement is prepared
 *  once. */
export function createSchemaVersion(db: Database): () => number {
  const select = db.prepare<[], number>('SELECT count(*) FROM __drizzle_migrations').pluck()
  return () => select.get()!
}

/** Version of the linked SQLite. */
export function sqliteVersion(db: Database): string {
  return db.prepare<[], string>('SELECT sqlite_version()').pluck().get()!
}

/** Sizes of a database in bytes. */
export interface DatabaseSizes {
  readonly bytes: number
  /** Size of the write-ahead log. */
  readonly walBytes: number
  /** Size of the unused pages of the database file. */
  readonly freeBytes: number
}

/** Returns a function that measures the files of an open database, in some microseconds. */
export function createDatabaseSizes(db: Database): () => DatabaseSizes {
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number
  const sizeOf = (suffix: string) => statSync(db.name + suffix, { throwIfNoEntry: false })?.size ?? 0
  return () => ({
    bytes: sizeOf(''),
    walBytes: sizeOf('-wal'),
    freeBytes: pragma('freelist_count') * pragma('page_size'),
  })
}

/** A table and its size. */
export interface TableSize {
  table: string
  rows: number
  /** Size including its indexes; null when SQLite was built without `dbstat`. */
  bytes: number | null
}

/** Rows and bytes of every table, largest first. Reads the whole database. */
export function measureTables(db: Database): TableSize[] {
  const names = db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'",
    )
    .pluck()
    .all()
  const bytes = measureBytes(db)
  return names
    .map((table) => ({
      table,
      rows: db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get()!,
      bytes: bytes?.get(table) ?? null,
    }))
    .sort((a, b) => (b.bytes ?? b.rows) - (a.bytes ?? a.rows))
}

function measureBytes(db: Database): Map<string, number> | undefined {
  try {
    const rows = db
      .prepare<[], { table: string; bytes: number }>(
        `SELECT s.tbl_name AS "table", sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
         WHERE d.aggregate = 1 GROUP BY s.tbl_name`,
      )
      .all()
    return new Map(rows.map((row) => [row.table, row.bytes]))
  } catch (error) {
    if (/no such table: dbstat/.test(String(error))) return undefined
    throw error
  }
}
