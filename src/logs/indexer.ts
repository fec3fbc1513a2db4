import type { Log } from '../chain/eth/types.js'
import type { Database } from '../store/open.js'
import { type ChunkBuilder, createChunkBuilder } from './chunkBuilder.js'
import { requireIndexSettings } from './indexSettings.js'
import { createKeyHasher } from './keyHash.js'
import { createMergeJob, findMergeable, type MergeJob } from './merge.js'
import { chunksOf, createSegmentStore, type Segment } from './segmentStore.js'
import { createSealJob, type SealJob } from './segmentWriter.js'
import { createStoredLogs } from './storedLogs.js'

/** The writer of the log index. Everything takes effect with the transaction that the caller is in. */
export interface LogIndexer {
  /** Takes the logs of a stored block, in their order and right after those taken before. A chunk that becomes full is
   *  sealed by `work`; only when the next one is full before that, on the spot. */
  add(logs: readonly Log[]): void
  /** True when there are rows for a full chunk that is not sealed, as in a database made before there was an index. */
  isBehind(): boolean
  /** Seals the full chunk, merges segments and deletes what was merged, for about `budgetMs`; true when there is more
   *  to do. */
  work(budgetMs: number): boolean
  /** Makes the index that of the first `logCount` logs, after the rows of later ones were deleted. */
  truncate(logCount: number): void
  /** Drops all segments, and whatever rows lie in the index without one: every log is in the tail then. */
  drop(): void
  /** Seals the next chunk that is full of stored logs, or what is left of one, in about 0.3 s; false when there is
   *  none. */
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
  const hasher = createKeyHasher(secret)
  const stored = createStoredLogs(db)
  /** Of the chunk that fills, and of the one before while it is sealed. */
  let builder = createChunkBuilder(hasher)
  let spare: ChunkBuilder | undefined
  let nextChunk: number | undefined
  let sealing: SealJob | undefined
  let job: MergeJob | undefined

  const begin = (): number => {
    for (const { id } of store.segments('building')) store.setState(id, 'dropped')
    sealing = undefined
    job = undefined
    builder.clear()
    return sealedChunks(store.segments('live'))
  }
  const finishSealing = () => {
    while (sealing?.step());
    sealing = undefined
  }
  const sealFull = (chunk: number): number => {
    if (builder.count < chunkLogs) return chunk
    finishSealing()
    sealing = createSealJob(store, chunk, builder)
    spare ??= createChunkBuilder(hasher)
    ;[builder, spare] = [spare, builder]
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
  /** One step of what is to be done first; false when there is nothing. */
  const step = (): boolean => {
    if (sealing) {
      if (!sealing.step()) sealing = undefined
      return true
    }
    const [dropped] = job ? [] : store.segments('dropped')
    if (dropped) {
      store.deleteRows(dropped.id, DELETE_ROWS)
      return true
    }
    const sources = job ? undefined : findMergeable(store.segments('live'))
    if (!job && !sources) return false
    job ??= createMergeJob(store, sources!)
    if (!job.step()) job = undefined
    return true
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
      while (step()) if (performance.now() > end) return true
      return false
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
      if (sealing) {
        finishSealing()
        return true
      }
      const end = (nextChunk + 1) * chunkLogs
      if (end > stored.count()) return false
      catchUp(end)
      finishSealing()
      return true
    },
    forget: () => {
      nextChunk = undefined
      sealing = undefined
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
