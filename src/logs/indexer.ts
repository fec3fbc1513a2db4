import type { Log } from '../chain/eth/types.js'
import type { Database } from '../store/open.js'
import { createChunkBuilder } from './chunkBuilder.js'
import { requireIndexSettings } from './indexSettings.js'
import { createKeyHasher } from './keyHash.js'
import { createMergeJob, findMergeable, type MergeJob } from './merge.js'
import { chunksOf, createSegmentStore, type Segment } from './segmentStore.js'
import { sealChunk } from './segmentWriter.js'
import { createStoredLogs } from './storedLogs.js'

/** The writer of the log index. Everything takes effect with the transaction that the caller is in. */
export interface LogIndexer {
  /** Takes the logs of a stored block, in their order and right after those taken before. A chunk that becomes full is
   *  sealed on the spot, in about 40 ms. */
  add(logs: readonly Log[]): void
  /** True when there are rows for a full chunk that is not sealed, as in a database made before there was an index. */
  isBehind(): boolean
  /** Merges segments and deletes what was merged, for about `budgetMs`; true when there is more to do. */
  work(budgetMs: number): boolean
  /** Makes the index that of the first `logCount` logs, after the rows of later ones were deleted. */
  truncate(logCount: number): void
  /** Drops all segments, and whatever rows lie in the index without one: every log is in the tail then. */
  drop(): void
  /** Seals the next chunk that is full of stored logs, in about 0.4 s; false when there is none. */
  sealNext(): boolean
  /** Forgets what lies in memory: to be called after a rollback. */
  forget(): void
}

// Rows deleted at a time between two looks at the clock.
const DELETE_ROWS = 200

/** The indexer of a database opened for writing. What an earlier process left unfinished is given up and begun again. */
export function createLogIndexer(db: Database, options: { chunkBits?: number } = {}): LogIndexer {
  const { secret, chunkBits } = requireIndexSettings(db, options.chunkBits)
  const chunkLogs = 2 ** chunkBits
  const store = createSegmentStore(db)
  const builder = createChunkBuilder(createKeyHasher(secret))
  const stored = createStoredLogs(db)
  let nextChunk: number | undefined
  let job: MergeJob | undefined

  const begin = (): number => {
    for (const { id } of store.segments('building')) store.setState(id, 'dropped')
    job = undefined
    builder.clear()
    return sealedChunks(store.segments('live'))
  }
  const sealFull = (chunk: number): number => {
    if (builder.count < chunkLogs) return chunk
    sealChunk(store, chunk, builder)
    builder.clear()
    return chunk + 1
  }
  /** Takes the rows that no segment covers, up to `end`, as far as they are not taken. */
  const catchUp = (end: number) => {
    nextChunk ??= begin()
    let from = nextChunk * chunkLogs + builder.count
    while (from < end) {
      const to = Math.min(end, (nextChunk + 1) * chunkLogs)
      for (const log of stored.read(from, to)) builder.add(log)
      nextChunk = sealFull(nextChunk)
      from = to
    }
  }
  return {
    add: (logs) => {
      // The rows are stored already: what is before them is caught up with first.
      catchUp(stored.count() - logs.length)
      for (const log of logs) {
        builder.add(log)
        nextChunk = sealFull(nextChunk!)
      }
    },
    isBehind: () => stored.count() - sealedChunks(store.segments('live')) * chunkLogs >= chunkLogs,
    work: (budgetMs) => {
      const end = performance.now() + budgetMs
      for (;;) {
        const [dropped] = job ? [] : store.segments('dropped')
        if (dropped) store.deleteRows(dropped.id, DELETE_ROWS)
        else {
          const sources = job ? undefined : findMergeable(store.segments('live'))
          if (!job && !sources) return false
          job ??= createMergeJob(store, sources!)
          if (!job.step()) job = undefined
        }
        if (performance.now() > end) return true
      }
    },
    truncate: (logCount) => {
      const kept = logCount >> chunkBits
      for (const segment of store.segments('live')) {
        if (segment.firstChunk + chunksOf(segment.level) > kept) store.setState(segment.id, 'dropped')
      }
      nextChunk = undefined
      catchUp(logCount)
    },
    drop: () => {
      for (const state of ['live', 'building'] as const) {
        for (const { id } of store.segments(state)) store.setState(id, 'dropped')
      }
      store.dropStrayRows()
      nextChunk = undefined
    },
    sealNext: () => {
      nextChunk ??= begin()
      const end = (nextChunk + 1) * chunkLogs
      if (end > stored.count()) return false
      catchUp(end)
      return true
    },
    forget: () => {
      nextChunk = undefined
      job = undefined
    },
  }
}

/** How many chunks from the first on the live segments cover. */
export function sealedChunks(segments: readonly Segment[]): number {
  let next = 0
  for (const { firstChunk, level } of segments) {
    if (firstChunk !== next) break
    next += chunksOf(level)
  }
  return next
}
