import { LAKE_VIEWS } from '../../store/sql/lakeViews.js'
import { type CteMap, type Node, visitNodes } from './ast.js'
import { NotForDuckDb } from './kinds.js'

const TABLE_FUNCTIONS = new Set(['unnest', 'range', 'generate_series'])
/** Functions that read settings, files or other statements. */
const REFUSED =
  /^(current_setting|getenv|getvariable|read_|query|parquet_|pragma_|duckdb_|sniff_|glob$|which_secret|json_execute|write_|nextval|currval|add_parquet_key|error$|sleep)/

/** Requires that a statement names no table but the views and those of its WITH, and no function that reads beyond
 *  them. @throws NotForDuckDb */
export function checkNames(root: Node): void {
  const known = new Set(LAKE_VIEWS.map(({ name }) => name))
  visitNodes(root, (node) => {
    for (const { key } of (node.cte_map as CteMap | undefined)?.map ?? []) known.add(key.toLowerCase())
  })
  visitNodes(root, (node) => {
    if (node.type === 'BASE_TABLE') {
      const isPlain = !node.catalog_name && (!node.schema_name || node.schema_name === 'main')
      if (!isPlain || !known.has(String(node.table_name).toLowerCase())) {
        const views = LAKE_VIEWS.map(({ name }) => name).join(', ')
        throw new NotForDuckDb(`${node.table_name} is not one of ${views}`)
      }
    } else if (node.type === 'TABLE_FUNCTION') {
      const name = String(node.function.function_name).toLowerCase()
      if (!TABLE_FUNCTIONS.has(name)) throw new NotForDuckDb(`the table function ${name}() is not allowed`)
    } else if (typeof node.function_name === 'string' && REFUSED.test(node.function_name.toLowerCase())) {
      throw new NotForDuckDb(`the function ${node.function_name}() is not allowed`)
    } else if (node.type === 'SHOW_REF' || node.type === 'COLUMN_DATA' || node.type === 'DELIM_GET') {
      throw new NotForDuckDb('the statement is not a SELECT')
    }
  })
}
