import type { Progress } from '../lib/progress.js'
import type { Database } from '../store/database.js'
import { createSegmentIndexer, type SegmentIndexer } from './indexer.js'
import type { IndexKind } from './indexKind.js'
import { describeIndex } from './indexSummary.js'

interface ReindexOptions {
  /** Told how many items are sealed, after each transaction. */
  progress: Progress
  signal?: AbortSignal
  /** Called after each transaction; what it gives is waited for. */
  afterCommit?: () => Promise<void> | undefined
}

/** What a rebuild left. */
export interface ReindexSummary {
  segments: number
  /** Items in them. */
  sealed: number
  /** Items behind them, which need no segment unless it was interrupted. */
  tail: number
  /** True when `signal` ended it early: the next writer seals what is left. */
  interrupted: boolean
}

// Longest transaction of deletions and merges.
const SLICE_MS = 200

/** Rebuilds an index from the rows of a database opened for writing. The first transaction drops all segments; from
 *  then on readers look in memory for what is not sealed yet. Each of the others, of at most about half a second, deletes a
 *  part of the old index, seals a chunk or goes on with a merge: wherever it is cut off, what is committed is an index
 *  that answers right. */
export async function rebuildIndex(
  db: Database,
  kind: IndexKind<unknown>,
  options: ReindexOptions,
): Promise<ReindexSummary> {
  const indexer = createSegmentIndexer(db, kind)
  if (!options.signal?.aborted) {
    db.transaction(() => indexer.drop())()
    options.progress.update(0)
  }
  const interrupted = !(await sealAll(db, { kind, indexer }, options))
  const { levels, sealed, tail } = describeIndex(db, kind)
  const segments = levels.reduce((sum, level) => sum + level.segments, 0)
  return { segments, sealed, tail, interrupted }
}

/** Seals the full chunks of stored items that are not, and merges, in transactions as `rebuildIndex` does.
 *  @returns false when `signal` ended it early. */
export function completeIndex(db: Database, kind: IndexKind<unknown>, options: ReindexOptions): Promise<boolean> {
  return sealAll(db, { kind, indexer: createSegmentIndexer(db, kind) }, options)
}

async function sealAll(
  db: Database,
  { kind, indexer }: { kind: IndexKind<unknown>; indexer: SegmentIndexer<unknown> },
  { progress, signal, afterCommit }: ReindexOptions,
): Promise<boolean> {
  // Old rows go first: the new ones take their pages, and the file does not grow.
  const goOn = db.transaction(() => indexer.work(SLICE_MS) || indexer.sealNext())
  for (let more = true; more; ) {
    if (signal?.aborted) return false
    more = goOn()
    progress.update(describeIndex(db, kind).sealed)
    await afterCommit?.()
    // Signals come in only between transactions.
    await new Promise(setImmediate)
  }
  return true
}
