import type { Database } from './database.js'

/* When SQLite 3.54 chooses a plan, it compares the parameter of `column = ?`, `IS ?`, LIMIT and OFFSET with small
 * integers, and compiles the statement again once the parameter has another value. better-sqlite3 clears the parameters
 * after each run, which counts as another value: each run compiles, which takes 15 to 100 times as long as a read of
 * the state, and creates a new function for its rows. SQLite does not compare a parameter behind a unary plus, which
 * changes neither value nor affinity. A plan with an index stays the same: only a plus before the column would exclude
 * the index. */

// Texts and comments first, because they may contain anything. Unclosed ones extend to the end, so the search is
// linear.
const COMPARED =
  /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|((?:=|\bIS|\bIS\s+NOT|\bLIMIT|\bOFFSET)\s*)(?=[?@:$])/gi

/** The statement with a plan that does not depend on the values of its parameters. */
export function withKeptPlan(sql: string): string {
  return sql.replace(COMPARED, (found: string, before: string | undefined) =>
    before === undefined ? found : `${before}+`,
  )
}

/** Has all statements prepared on the connection keep their plans. */
export function keepPlans(db: Database): void {
  const prepare = db.prepare.bind(db) as (sql: string) => unknown
  db.prepare = ((sql: string) => prepare(withKeptPlan(sql))) as Database['prepare']
}
