/** Limits of `POST /sql`. */
export interface SqlLimits {
  /** Time limit of a query, including reading its rows. */
  readonly timeoutMs: number
  readonly maxRows: number
  /** Memory of the process of a query. */
  readonly memoryBytes: number
  /** Concurrent queries, each in its own process. */
  readonly processes: number
}

/** Default limits of `POST /sql`. */
export const DEFAULT_SQL_LIMITS: SqlLimits = {
  timeoutMs: 30_000,
  maxRows: 1_000_000,
  memoryBytes: 512 * 2 ** 20,
  processes: 2,
}

/** Longest body in bytes: a query has at most 100,000 characters. */
export const MAX_SQL_BODY_BYTES = 1_000_000
