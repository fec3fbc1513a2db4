import type { CommitWatch } from '../commitWatch.js'
import type { Database } from '../database.js'
import { eachUntilCommit, untilCommit } from '../untilCommit.js'
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

// The first and the last block of ranges: 100 bytes each.
const KEPT_BOUNDS = 1024

/** Creates look-ups with statements prepared once for the connection. */
export function createLogRanges(db: Database, watch: CommitWatch): LogRanges {
  const selectCoverage = db.prepare<[], { first: number | null; head: number | null }>(
    'SELECT (SELECT min(number) FROM blocks) AS first, (SELECT max(number) FROM blocks) AS head',
  )
  const selectBounds = db.prepare<[number], { first_log: number; n_logs: number }>(
    'SELECT first_log, n_logs FROM blocks WHERE number = ?',
  )
  const selectCount = db
    .prepare<[], number>('SELECT first_log + n_logs FROM blocks ORDER BY number DESC LIMIT 1')
    .pluck()
  const boundsOf = eachUntilCommit(watch, {
    read: (blockNumber: number) => selectBounds.get(blockNumber),
    most: KEPT_BOUNDS,
  })
  return {
    coverage: untilCommit(watch, () => {
      const { first, head } = selectCoverage.get()!
      return first === null || head === null ? undefined : { first, head }
    }),
    idsOf: (fromBlock, toBlock) => {
      const first = boundsOf(fromBlock)
      const last = boundsOf(toBlock)
      return first && last && { from: first.first_log, to: last.first_log + last.n_logs }
    },
    logCount: () => selectCount.get() ?? 0,
  }
}
