import type { SqlValue } from '../store/sql/runQuery.js'
import type { RowFormat } from './formats.js'

/** Ends a query process that uses too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2'

/** Arguments of a query process, as JSON. */
export interface QueryProcessOptions {
  readonly datadir: string
  /** Memory limit for untrusted clients, who also see no secrets; undefined: a user with access to the file. */
  readonly memoryBytes?: number
}

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
}

/** A message of a query process. */
export type QueryReply = Batch | { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly message: string }
