import { didYouMean } from '../lib/suggestion.js'
import type { Database } from '../store/database.js'
import { readCatalogue, readFunctionNames } from '../store/sql/queryDatabase.js'

const UNKNOWN = /^no such (table|column|function|table-valued function): (?:[\w]+\.)*(.+)$/

/** The message of SQLite for a statement, with the likeliest name for one that it does not know: of a table or view, of
 *  a column of those that the statement names, or of a function. Other messages are returned as they are. */
export function explainQueryError(db: Database, sql: string, message: string): string {
  const unknown = UNKNOWN.exec(message)
  if (unknown === null) return message
  const [, kind, name] = unknown
  return message + didYouMean(name, candidates(db, sql, kind))
}

function candidates(db: Database, sql: string, kind: string): string[] {
  if (kind.endsWith('function')) return readFunctionNames(db).filter((name) => /^[a-z]/.test(name))
  const catalogue = readCatalogue(db)
  if (kind === 'table') return [...new Set(catalogue.map(([table]) => table))]
  const words = new Set(sql.toLowerCase().match(/\w+/g))
  return [...new Set(catalogue.filter(([table]) => words.has(table.toLowerCase())).map(([, column]) => column))]
}
