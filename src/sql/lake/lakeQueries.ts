import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST } from '../../export/manifest.js'
import { messageOf } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import { QueryRefused } from '../../store/sql/runQuery.js'
import type { LakeChoice } from '../protocol.js'
import { NotForDuckDb } from './kinds.js'
import { LakeEngine, type LakeQuery } from './lakeEngine.js'

/** Runs queries in DuckDB where they can be. */
export interface LakeQueries {
  /** Returns undefined for a query that SQLite has to answer. @throws QueryRefused, with the engine `duckdb` */
  run(db: Database, sql: string): Promise<LakeQuery | undefined>
}

/** Share of the memory of an untrusted client's process that DuckDB may take; the rest is that of Node and SQLite. */
const MEMORY_SHARE = 0.6

/** DuckDB is loaded for the first query that finds a lake. `memoryBytes`: limit of the process, undefined without. */
export function createLakeQueries(choice: LakeChoice, memoryBytes: number | undefined): LakeQueries {
  const { directory, duckdb } = choice
  const isOnly = choice.engine === 'duckdb'
  const limits = memoryBytes === undefined ? {} : { memoryBytes: memoryBytes * MEMORY_SHARE, threads: 2 }
  let engine: LakeEngine | undefined
  return {
    async run(db, sql) {
      if (!isOnly && !existsSync(join(directory, MANIFEST))) return undefined
      try {
        engine ??= await LakeEngine.open({ directory, duckdb, ...limits })
        const { columns, rows } = await engine.run(db, sql)
        return { columns, rows: named(rows) }
      } catch (error) {
        if (!isOnly) return undefined
        throw error instanceof NotForDuckDb
          ? new QueryRefused(`DuckDB cannot answer this as SQLite does: ${error.message}; use --engine auto or sqlite`)
          : new QueryRefused(firstPart(error), { cause: error })
      }
    },
  }
}

/** Says of an error after the first rows, when SQLite cannot take over, where it came from. */
async function* named<T>(rows: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* rows
  } catch (error) {
    throw new QueryRefused(`in DuckDB: ${firstPart(error)}; --engine sqlite may answer it`, { cause: error })
  }
}

/** DuckDB's messages have the place in the statement below an empty line. */
function firstPart(error: unknown): string {
  return messageOf(error).split('\n\n')[0]
}
