import type { LakeView } from './lakeViews.js'

/* The statements of Cairn for DuckDB. */

/** Serializes the statement $1 as a tree in JSON. */
export const TO_TREE = 'SELECT json_serialize_sql($1::VARCHAR)'

/** Makes a statement of the tree $1. */
export const FROM_TREE = 'SELECT json_deserialize_sql($1::JSON)'

/** Settings under which DuckDB reads no file outside of `directory`, and which cannot be changed afterwards. Integer
 *  division and the order of NULL are those of SQLite. */
export function lakeSettings(directory: string): string[] {
  return [
    'SET integer_division = true',
    "SET default_null_order = 'nulls_first_on_asc_last_on_desc'",
    `SET allowed_directories = [${literal(`${directory}/`)}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ]
}

/** Macros for calls whose forms differ: `cairn_day(seconds)` is YYYY-MM-DD, `cairn_time(seconds, format)`. Seconds
 *  outside of the years 0 to 9999, for which SQLite returns NULL, are an error. */
export const LAKE_MACROS = [
  `CREATE MACRO cairn_seconds(s) AS CASE WHEN s BETWEEN -62167219200 AND 253402300799 THEN s
    ELSE error('a time is outside of the years 0 to 9999') END`,
  'CREATE MACRO cairn_day(s) AS CAST(CAST(make_timestamp(cairn_seconds(s) * 1000000) AS DATE) AS VARCHAR)',
  'CREATE MACRO cairn_time(s, f) AS strftime(make_timestamp(cairn_seconds(s) * 1000000), f)',
]

const TYPES = { integer: 'BIGINT', real: 'DOUBLE', text: 'VARCHAR' } as const

/** Returns the name of the table for the newest rows of a view. */
export function newestTable({ name }: LakeView): string {
  return `newest_${name}`
}

/** Creates the table for the newest rows of a view. */
export function createNewest(view: LakeView): string {
  const columns = [...view.columns, ...view.derived].map(({ name, type }) => `"${name}" ${TYPES[type]}`)
  return `CREATE TABLE ${newestTable(view)} (${columns.join(', ')})`
}

/** Removes the newest rows of a view. */
export function deleteNewest(view: LakeView): string {
  return `DELETE FROM ${newestTable(view)}`
}

/** Returns the name of the view with the derived columns too. */
export function wideView({ name }: LakeView): string {
  return `wide_${name}`
}

/** Creates a view, and the one with its derived columns, of the rows of Parquet files up to block `last`, if given, and
 *  the newest rows. */
export function createLakeViews(
  view: LakeView,
  { paths, last }: { paths: readonly string[]; last?: number },
): string[] {
  const files = `read_parquet([${paths.map(literal).join(', ')}])`
  const until = last === undefined ? '' : ` WHERE ${view.block} <= ${last}`
  const create = (name: string, columns: readonly { readonly name: string }[]) => {
    const names = columns.map((column) => `"${column.name}"`).join(', ')
    return `CREATE OR REPLACE VIEW ${name} AS SELECT ${names} FROM ${files}${until}
      UNION ALL SELECT ${names} FROM ${newestTable(view)}`
  }
  return [create(view.name, view.columns), create(wideView(view), [...view.columns, ...view.derived])]
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
