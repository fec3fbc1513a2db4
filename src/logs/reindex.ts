import type { Progress } from '../lib/progress.js'
import type { Database } from '../store/open.js'
import { createLogIndexer } from './indexer.js'
import { describeLogIndex } from './indexSummary.js'

interface ReindexOptions {
  /** Told how many logs are sealed, after each transaction. */
  progress: Progress
  signal?: AbortSignal
}

/** What a rebuild left. */
export interface ReindexSummary {
  segments: number
  /** Logs in them. */
  sealedLogs: number
  /** Logs behind them, which need no segment unless it was interrupted. */
  tailLogs: number
  /** True when `signal` ended it early: the next writer seals what is left. */
  interrupted: boolean
}

// Longest transaction of deletions and merges.
const SLICE_MS = 200

/** Rebuilds the log index from the rows of a database opened for writing. The first transaction drops all segments; from
 *  then on readers scan in memory what is not sealed yet. Each of the others, of at most about half a second, deletes a
 *  part of the old index, seals a chunk or goes on with a merge: wherever it is cut off, what is committed is an index
 *  that answers right. */
export async function rebuildLogIndex(db: Database, { progress, signal }: ReindexOptions): Promise<ReindexSummary> {
  const indexer = createLogIndexer(db)
  const commit = db.transaction((step: () => boolean) => step())
  const dropAll = () => {
    indexer.drop()
    return true
  }
  // The old rows go first: the new ones take their pages, and the file does not grow.
  const goOn = () => indexer.work(SLICE_MS) || indexer.sealNext()
  let step = dropAll
  let finished = false
  while (!signal?.aborted && !finished) {
    finished = !commit(step)
    step = goOn
    progress.update(describeLogIndex(db).sealedLogs)
    // Signals come in only between transactions.
    await new Promise(setImmediate)
  }
  const { levels, sealedLogs, tailLogs } = describeLogIndex(db)
  const segments = levels.reduce((sum, level) => sum + level.segments, 0)
  return { segments, sealedLogs, tailLogs, interrupted: !finished }
}
