import type { Database } from '../database.js'
import type { IdRange } from './rowFilter.js'

/** Maps block ranges to log ids. */
export interface LogRanges {
  /** Numbers of the first and the newest block; undefined when the chain is empty. */
  coverage(): { first: number; head: number } | undefined
  /** Log ids of blocks [fromBlock, toBlock], both inclusive; undefined when either block is not stored. */
  idsOf(fromBlock: number, toBlock: number): IdRange | undefined
  /** Number of logs; ids are [0, count). */
  logCount(): number
}

/** Look-ups with statements prepared once for the connection. */
export function createLogRanges(db: Database): LogRanges {
  const selectCoverage = db.prepare<[], { first: number | null; head: number | null }>(
    'SELECT (SELECT min(number) FROM blocks) AS first, (SELECT max(number) FROM blocks) AS head',
  )
  const selectBounds = db.prepare<[number], { first_log: number; n_logs: number }>(
    'SELECT first_log, n_logs FROM blocks WHERE number = ?',
  )
  const selectCount = db
    .prepare<[], number>('SELECT first_log + n_logs FROM blocks ORDER BY number DESC LIMIT 1')
    .pluck()
  return {
    coverage: () => {
      const { first, head } = selectCoverage.get()!
      return first === null || head === null ? undefined : { first, head }
    },
    idsOf: (fromBlock, toBlock) => {
      const first = selectBounds.get(fromBlock)
      const last = selectBounds.get(toBlock)
      return first && last && { from: first.first_log, to: last.first_log + last.n_logs }
    },
    logCount: () => selectCount.get() ?? 0,
  }
}
