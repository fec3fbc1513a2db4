import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { MANIFEST, readManifest } from '../../export/manifest.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { duckDbMissing, findDuckDb, loadDuckDb } from '../../sql/lake/loadDuckDb.js'
import { QueryFailed } from '../../sql/queryRunner.js'
import type { SqlValue } from '../../store/sql/runQuery.js'
import type { ResultBatch, SqlSession } from './session.js'

/** Opens DuckDB on the Parquet files in the manifest of `directory`, with a view for each dataset. @throws UsageError
 *  if the manifest is missing or lists no Parquet files, or DuckDB is not installed */
export async function openLake(directory: string, duckdb?: string): Promise<SqlSession> {
  if (!existsSync(join(directory, MANIFEST))) {
    throw new UsageError(
      `--lake: no ${MANIFEST} in ${directory}; write one with 'cairn export DATASET --out ${directory}'`,
    )
  }
  const datasets = Object.entries(readManifest(directory).datasets).filter(
    ([, { format, files }]) => format === 'parquet' && files.length > 0,
  )
  if (datasets.length === 0) throw new UsageError(`--lake: ${join(directory, MANIFEST)} names no Parquet files`)
  const found = findDuckDb(duckdb)
  if (found === undefined) throw duckDbMissing('--lake')
  const { DuckDBInstance } = loadDuckDb(found)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  for (const [name, { files }] of datasets) {
    const paths = files.map(({ file }) => literal(join(directory, file)))
    await connection.run(`CREATE OR REPLACE VIEW ${quote(name)} AS FROM read_parquet([${paths.join(', ')}])`)
  }
  const run = (sql: string, signal?: AbortSignal) => stream(connection, sql, signal)
  const readAll = async (sql: string) => {
    const rows: (readonly SqlValue[])[] = []
    for await (const { values } of run(sql)) rows.push(...values)
    return rows
  }
  return {
    run,
    async catalogue() {
      const tables = new Map<string, string[]>()
      for (const [table, column] of await readAll(
        'select table_name, column_name FROM duckdb_columns() WHERE NOT internal',
      )) {
        tables.set(String(table), [...(tables.get(String(table)) ?? []), String(column)])
      }
      return tables
    },
    async schema(name) {
      const wanted = name === undefined ? '' : ` AND lower(table_name) = lower(${literal(name)})`
      const rows = await readAll(
        `select table_name || ' (' || string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index) || ')'
         FROM duckdb_columns() WHERE NOT internal${wanted} GROUP BY table_name ORDER BY table_name`,
      )
      return rows.map(([text]) => String(text))
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function* stream(connection: DuckDBConnection, sql: string, signal?: AbortSignal): AsyncGenerator<ResultBatch> {
  const stop = () => connection.interrupt()
  signal?.addEventListener('abort', stop)
  try {
    const result = await connection.stream(sql)
    const columns = result.deduplicatedColumnNames()
    let isFirst = true
    for (
      let chunk = await result.fetchChunk();
      chunk !== null && chunk.rowCount > 0;
      chunk = await result.fetchChunk()
    ) {
      isFirst = false
      yield { columns, engine: 'DuckDB', values: chunk.getRows().map((row) => row.map(toSqlValue)) }
    }
    if (isFirst) yield { columns, engine: 'DuckDB', values: [] }
  } catch (error) {
    throw new QueryFailed(messageOf(error), { cause: error })
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

function toSqlValue(value: DuckDBValue): SqlValue {
  if (value === null || typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string')
    return value
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return 'bytes' in value && value.bytes instanceof Uint8Array ? value.bytes : value.toString()
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
