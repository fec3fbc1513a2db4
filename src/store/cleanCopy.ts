import { isDeepStrictEqual } from 'node:util'
import { CairnError, messageOf } from '../lib/errors.js'
import type { Database } from './database.js'
import { compareSchema, describeEntry, type SchemaEntry } from './schemaFacts.js'

/** The schema of a database copy differs from that of the migrations. */
export class ForeignSchema extends CairnError {
  constructor(object: string, problem: string, options?: ErrorOptions) {
    super(`the schema is not that of Cairn: ${object}: ${problem}`, options)
  }
}

/* Triggers first: dropping or deleting anything else must not run them. */
const ORDER = ['trigger', 'view', 'index', 'table']

/** Drops objects that no migration made from the copy of a database, triggers before anything else is written, and
 *  compares the rest with the migrations. Returns the dropped objects, as `trigger NAME`.
 *  @throws ForeignSchema when an object of Cairn's own differs */
export function dropForeignObjects(db: Database): string[] {
  db.pragma('trusted_schema = OFF')
  db.pragma('secure_delete = ON') // a table of another program may contain private data
  const dropped = explain(() => db.transaction(() => dropAll(db))())
  requireOwnSchema(db)
  return dropped
}

function dropAll(db: Database): string[] {
  const { foreign } = compareSchema(db)
  const exists = db.prepare<[string, string]>('SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?')
  const sorted = foreign.toSorted((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type))
  // Indexes of a constraint are dropped with their tables, and shadow tables with their virtual table.
  for (const entry of sorted.filter(isDroppable)) {
    if (exists.get(entry.type, entry.name) !== undefined) {
      db.exec(`DROP ${entry.type.toUpperCase()} "${entry.name.replaceAll('"', '""')}"`)
    }
  }
  return sorted.filter((entry) => isDroppable(entry)).map(describeEntry)
}

/** False for the index of a constraint. */
function isDroppable({ type, sql }: SchemaEntry): boolean {
  return type !== 'index' || sql !== null
}

/** Compares every object of the schema with that of the migrations. @throws ForeignSchema for the first difference */
function requireOwnSchema(db: Database): void {
  const { entries, foreign, migrations } = explain(() => compareSchema(db))
  for (const { expected, found } of entries) {
    const object = describeEntry(expected)
    if (found === undefined) throw new ForeignSchema(object, 'it is missing')
    if (!isDeepStrictEqual(found, expected))
      throw new ForeignSchema(object, `expected ${expected.sql}, got ${found.sql}`)
  }
  if (foreign.length > 0) throw new ForeignSchema(describeEntry(foreign[0]), 'no migration makes it')
  if (!isDeepStrictEqual(migrations.found, migrations.expected)) {
    throw new ForeignSchema('table __drizzle_migrations', 'it names other migrations')
  }
  const encoding = db.pragma('encoding', { simple: true })
  if (encoding !== 'UTF-8') throw new ForeignSchema('encoding', `expected UTF-8, got ${encoding}`)
}

/** Names the schema in errors of SQLite, which refuses to read a malformed one. */
function explain<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_ERROR') {
      throw new ForeignSchema('sqlite_schema', messageOf(error), { cause: error })
    }
    throw error
  }
}
