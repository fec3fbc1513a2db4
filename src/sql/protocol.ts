import type { SqlValue } from '../store/sql/runQuery.js'
import type { RowFormat } from './formats.js'

/** Ends a query process that uses too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2'

/** Arguments of a query process, as JSON. */
export interface QueryProcessOptions {
  readonly datadir: string
  /** Memory limit for untrusted clients, who also see no secrets; undefined: a user with access to the file. */
  readonly memoryBytes?: number
  /** Default: all queries run in SQLite. */
  readonly lake?: LakeChoice
}

/** How DuckDB is used. */
export interface LakeChoice {
  readonly directory: string
  /** Path of DuckDB's module. */
  readonly duckdb: string
  /** `auto`: SQLite answers what DuckDB cannot answer in the same way. */
  readonly engine: 'auto' | 'duckdb'
}

/** Which engine is asked for: `auto` is DuckDB where it is installed, has a lake, and answers as SQLite does. */
export const ENGINES = ['auto', 'duckdb', 'sqlite'] as const
export type Engine = (typeof ENGINES)[number]

/** What answered a query. */
export type EngineName = 'DuckDB' | 'SQLite'

/** A message to a query process. `next` asks for one more batch. */
export type QueryRequest =
  | { readonly kind: 'run'; readonly sql: string; readonly format: RowFormat | 'values'; readonly maxRows?: number }
  | { readonly kind: 'next' }

/** A batch of rows. */
export interface Batch {
  readonly kind: 'batch'
  readonly columns: readonly string[]
  /** Rows as lines of the format, or as values. */
  readonly text: string
  readonly values: readonly (readonly SqlValue[])[]
  readonly isLast: boolean
  readonly engine: EngineName
}

/** A message of a query process. */
export type QueryReply = Batch | { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly message: string }

/** A message of the process that extends the lake. */
export type LakeReport = { readonly kind: 'extended' } | { readonly kind: 'failed'; readonly message: string }
