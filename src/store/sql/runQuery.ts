import { CairnError } from '../../lib/errors.js'
import type { Database } from '../database.js'

/** A query that is not allowed. */
export class QueryRefused extends CairnError {}

/** A value of a row: integers are bigint, bytes are Uint8Array. */
export type SqlValue = null | bigint | number | string | Uint8Array

/** A running query. */
export interface RunningQuery {
  /** Column names, unique. */
  readonly columns: readonly string[]
  readonly rows: IterableIterator<readonly SqlValue[]>
  /** Ends the query and its snapshot. */
  close(): void
}

/** Names that queries of untrusted clients may not use: tables with secrets, and virtual tables that show pages or
 *  paths. */
const SECRET_TABLES = /^(api_key|key_|meta$)/
const FORBIDDEN_WORDS = /dbstat|sqlite_dbpage|pragma_database_list|load_extension/i

const MAX_QUERY_CHARACTERS = 100_000

/** Runs one statement that reads, in a snapshot. With `isStranger`, accepts only SELECT, WITH, VALUES and EXPLAIN, and
 *  no table with secrets. @throws QueryRefused; SqliteError for invalid SQL */
export function runQuery(db: Database, sql: string, { isStranger }: { isStranger: boolean }): RunningQuery {
  if (isStranger) checkWords(sql)
  const statement = db.prepare<[], SqlValue[]>(sql)
  if (!statement.readonly) throw new QueryRefused('the database is read-only: use SELECT')
  if (!statement.reader) throw new QueryRefused('the statement returns no rows: use SELECT')
  db.exec('BEGIN')
  try {
    if (isStranger) checkTables(db, sql)
    const columns = uniqueNames(statement.columns().map(({ name }) => name))
    const rows = statement.raw().safeIntegers().iterate()
    const close = () => {
      rows.return?.()
      if (db.inTransaction) db.exec('ROLLBACK')
    }
    return { columns, rows, close }
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

/** Returns the names of the columns of a statement that reads, unique; undefined if SQLite does not accept it. */
export function columnsOf(db: Database, sql: string): string[] | undefined {
  try {
    const statement = db.prepare(sql)
    if (!statement.readonly || !statement.reader) return undefined
    return uniqueNames(statement.columns().map(({ name }) => name))
  } catch {
    return undefined
  }
}

/** @throws QueryRefused for a query that is too long */
export function checkLength(sql: string): void {
  if (sql.length > MAX_QUERY_CHARACTERS) {
    throw new QueryRefused(`query: expected at most ${MAX_QUERY_CHARACTERS} characters, got ${sql.length}`)
  }
}

function checkWords(sql: string): void {
  checkLength(sql)
  const first = firstWord(sql)
  if (!['SELECT', 'WITH', 'VALUES', 'EXPLAIN'].includes(first)) {
    throw new QueryRefused(`query: expected SELECT, WITH, VALUES or EXPLAIN, got '${first.slice(0, 40)}'`)
  }
  const forbidden = FORBIDDEN_WORDS.exec(sql)?.[0]
  if (forbidden !== undefined) throw new QueryRefused(`query: ${forbidden} is not allowed`)
}

/** The first word behind white space and comments, in upper case. */
function firstWord(sql: string): string {
  const bare = sql.replace(/^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))*/, '')
  return (/^\w+/.exec(bare)?.[0] ?? bare).toUpperCase()
}

/** Checks the program that SQLite compiles the query to: whatever the query calls a table, views and quotes included,
 *  its program opens the table's root page. better-sqlite3 has no authorizer. */
function checkTables(db: Database, sql: string): void {
  if (firstWord(sql) === 'EXPLAIN') return // returns a program, not rows of tables
  const roots = new Map<number, string>()
  const tables = db.prepare<[], { root: number; name: string }>(
    "SELECT rootpage AS root, tbl_name AS name FROM main.sqlite_schema WHERE type IN ('table', 'index')",
  )
  for (const { root, name } of tables.iterate()) if (SECRET_TABLES.test(name)) roots.set(root, name)
  const program = db.prepare<[], { opcode: string; p2: number; p3: number }>(`EXPLAIN ${sql}`)
  for (const { opcode, p2, p3 } of program.iterate()) {
    const isOpening = opcode === 'OpenRead' || opcode === 'ReopenIdx' || opcode === 'OpenWrite'
    const name = isOpening && p3 === 0 ? roots.get(p2) : undefined
    if (name !== undefined) throw new QueryRefused(`the table ${name} cannot be queried`)
  }
}

function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let i = 2; taken.has(unique); i++) unique = `${name}_${i}`
    taken.add(unique)
    return unique
  })
}
