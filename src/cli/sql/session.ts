import type { EngineName, LakeChoice } from '../../sql/protocol.js'
import { createQueryRunner } from '../../sql/queryRunner.js'
import { CATALOGUE_QUERY, schemaQuery } from '../../store/sql/queryDatabase.js'
import type { SqlValue } from '../../store/sql/runQuery.js'

/** Rows of a query. */
export interface ResultBatch {
  readonly columns: readonly string[]
  readonly values: readonly (readonly SqlValue[])[]
  readonly engine: EngineName
}

/** Where the command runs its queries: the database or a directory of Parquet files. */
export interface SqlSession {
  /** Streams the rows of a query as they are read; at least one batch, which may be empty. `signal` aborts it. */
  run(sql: string, signal?: AbortSignal): AsyncIterable<ResultBatch>
  /** Returns the columns by table or view. */
  catalogue(): Promise<ReadonlyMap<string, readonly string[]>>
  /** Returns the definition of a table or view, or all definitions. */
  schema(name: string | undefined): Promise<readonly string[]>
  close(): void
}

/** Runs queries on the database of a data directory, or its lake, in a separate process. */
export function createDatabaseSession(datadir: string, lake?: LakeChoice): SqlSession {
  const runner = createQueryRunner({ datadir, lake })
  const ofDatabase = lake?.engine === 'duckdb' ? createQueryRunner({ datadir }) : runner
  const run = (sql: string, signal?: AbortSignal) => runner.run({ sql, format: 'values' }, { signal })
  const readAll = async (sql: string) => {
    const rows: SqlValue[][] = []
    for await (const { values } of ofDatabase.run({ sql, format: 'values' })) rows.push(...(values as SqlValue[][]))
    return rows
  }
  return {
    run,
    async catalogue() {
      const tables = new Map<string, string[]>()
      for (const [table, column] of (await readAll(CATALOGUE_QUERY)) as string[][]) {
        tables.set(table, [...(tables.get(table) ?? []), column])
      }
      return tables
    },
    schema: async (name) => (await readAll(schemaQuery(name))).map(([sql]) => String(sql)),
    close() {
      runner.close()
      ofDatabase.close()
    },
  }
}
