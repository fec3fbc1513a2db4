import type { LakeView } from './lakeViews.js'

/* The statements of Cairn for DuckDB. */

/** Serializes the statement $1 as a tree in JSON. */
export const TO_TREE = 'SELECT json_serialize_sql($1::VARCHAR)'

/** Makes a statement of the tree $1. */
export const FROM_TREE = 'SELECT json_deserialize_sql($1::JSON)'

/** Settings under which DuckDB reads no file outside of `directory`, and which cannot be changed afterwards. Integer
 *  division, the order of NULL and division by zero are those of SQLite. */
export function lakeSettings(directory: string): string[] {
  return [
    'SET integer_division = true',
    "SET default_null_order = 'nulls_first_on_asc_last_on_desc'",
    'SET ieee_floating_point_ops = false',
    `SET allowed_directories = [${literal(`${directory}/`)}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ]
}

/** Macros for calls whose forms differ: `cairn_day(seconds)` is YYYY-MM-DD, `cairn_time(seconds, format)`. Seconds outside of
 *  the years 0 to 9999, for which SQLite returns NULL, are an error. */
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
  return `CREATE TABLE ${newestTable(view)} (${view.columns.map(({ name, type }) => `"${name}" ${TYPES[type]}`).join(', ')})`
}

/** Removes the newest rows of a view. */
export function deleteNewest(view: LakeView): string {
  return `DELETE FROM ${newestTable(view)}`
}

/** Creates a view of the rows of Parquet files up to block `last`, if given, and the newest rows. */
export function createLakeView(view: LakeView, { paths, last }: { paths: readonly string[]; last?: number }): string {
  const names = view.columns.map(({ name }) => `"${name}"`).join(', ')
  const until = last === undefined ? '' : ` WHERE ${view.block} <= ${last}`
  return `CREATE OR REPLACE VIEW ${view.name} AS SELECT ${names} FROM read_parquet([${paths.map(literal).join(', ')}])${until}
    UNION ALL SELECT ${names} FROM ${newestTable(view)}`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
