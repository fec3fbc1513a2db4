import { yieldToEventLoop } from '../../lib/pause.js'
import type { Progress } from '../../lib/progress.js'
import type { Database } from '../../store/database.js'
import { SegmentIndexer } from './indexer.js'
import type { IndexKind } from './indexKind.js'
import { describeIndex } from './indexSummary.js'

interface ReindexOptions {
  /** Called with the number of sealed items after each transaction. */
  progress: Progress
  signal?: AbortSignal
  /** Called after each transaction; its result is awaited. */
  afterCommit?: () => Promise<void> | undefined
}

/** Result of a rebuild. */
export interface ReindexSummary {
  segments: number
  /** Items in segments. */
  sealed: number
  /** Items in the tail, which need no segment unless the rebuild was interrupted. */
  tail: number
  /** True if `signal` ended it early: the next writer seals the rest. */
  interrupted: boolean
}

// Longest transaction of deletions and merges.
const SLICE_MS = 200

/** Rebuilds an index from the rows of a writable database. The first transaction drops all segments; from then on
 *  readers search unsealed items in memory. Each further transaction, at most about half a second, deletes a part of
 *  the old index, seals a chunk or continues a merge. Wherever it is interrupted, the committed index returns correct
 *  results. */
export async function rebuildIndex(
  db: Database,
  kind: IndexKind<unknown>,
  options: ReindexOptions,
): Promise<ReindexSummary> {
  const indexer = new SegmentIndexer(db, kind)
  if (!options.signal?.aborted) {
    db.transaction(() => indexer.drop())()
    options.progress.update(0)
  }
  const interrupted = !(await sealAll(db, { kind, indexer }, options))
  const { levels, sealed, tail } = describeIndex(db, kind)
  const segments = levels.reduce((sum, level) => sum + level.segments, 0)
  return { segments, sealed, tail, interrupted }
}

/** Seals the unsealed full chunks and merges, in transactions as `rebuildIndex`. @returns false if `signal` ended it
 *  early. */
export function completeIndex(db: Database, kind: IndexKind<unknown>, options: ReindexOptions): Promise<boolean> {
  return sealAll(db, { kind, indexer: new SegmentIndexer(db, kind) }, options)
}

async function sealAll(
  db: Database,
  { kind, indexer }: { kind: IndexKind<unknown>; indexer: SegmentIndexer<unknown> },
  { progress, signal, afterCommit }: ReindexOptions,
): Promise<boolean> {
  // Old rows are deleted first: new ones reuse their pages, and the file does not grow.
  const goOn = db.transaction(() => indexer.work(SLICE_MS) || indexer.sealNext())
  for (let more = true; more; ) {
    if (signal?.aborted) return false
    more = goOn()
    progress.update(describeIndex(db, kind).sealed)
    await afterCommit?.()
    // Signals are handled only between transactions.
    await yieldToEventLoop()
  }
  return true
}
