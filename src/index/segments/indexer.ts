import type { Database } from '../../store/database.js'
import { chunksOf, createSegmentStore, sealedChunks } from '../../store/index/segmentStore.js'
import { type ChunkBuilder, createChunkBuilder } from './chunkBuilder.js'
import type { IndexKind } from './indexKind.js'
import { requireIndexSettings } from './indexSettings.js'
import { createKeyHasher } from './keyHash.js'
import { createMergeJob, findMergeable, type MergeJob } from './merge.js'
import { createSealJob, type SealJob } from './segmentWriter.js'

/** The writer of an index. All changes belong to the caller's transaction. */
export interface SegmentIndexer<Item> {
  /** Adds the items of a stored block, in order, right after the previous ones. `work` hashes their keys later, so that
   *  storing a block is not delayed; if more than a thousand items wait, they are hashed here. A full chunk is sealed
   *  `SETTLED_BLOCKS` calls later, or when the next one is half full: a reorg of the newest blocks then meets no
   *  segment. */
  add(items: readonly Item[]): void
  /** Lets `step` seal full chunks at once, until the next `add`: their blocks are final. */
  settle(): void
  /** True if a full chunk of rows is not sealed, as in a database from before the index. */
  isBehind(): boolean
  /** Does one step of about a millisecond: hashes keys, seals a full chunk, merges segments, or deletes merged ones.
   *  False if there is nothing to do. */
  step(): boolean
  /** Steps for about `budgetMs`. True if work is left. */
  work(budgetMs: number): boolean
  /** Drops the segments with deleted items, after the deletion of their rows. `work` seals those of their chunks again
   *  that are still full. */
  truncate(): void
  /** Drops all segments, and rows without a segment: every item is then in the tail. */
  drop(): void
  /** Seals the next full chunk of stored items in about 0.3 s, or finishes a started one. False if no chunk is left. */
  sealNext(): boolean
  /** Drops the state in memory; call it after a rollback. */
  forget(): void
}

// Rows deleted between two clock checks.
const DELETE_ROWS = 200
// Items hashed per step, fewer where their rows must be read, and how many may wait for it: waiting items keep their
// blocks in memory.
const STEP_ITEMS = 500
const STEP_ROWS = 150
const MAX_WAITING = 1_000
/** Blocks that a reorg is likely to reach: two epochs. */
export const SETTLED_BLOCKS = 64

/** Creates the indexer of a writable database. Work that an earlier process left unfinished is dropped and
 *  restarted. */
export function createSegmentIndexer<Item>(
  db: Database,
  kind: IndexKind<Item>,
  options: { chunkBits?: number } = {},
): SegmentIndexer<Item> {
  const { secret, chunkBits } = requireIndexSettings(db, options.chunkBits)
  const chunkSize = 2 ** chunkBits
  const store = createSegmentStore(db, kind.tables)
  const stored = kind.openStored(db)
  const keys = kind.createKeys(createKeyHasher(secret))
  /** Builders of the current chunk, and of the previous one until it is sealed. */
  let builder = createChunkBuilder()
  let spare: ChunkBuilder | undefined
  /** The chunk that is filling; undefined when the state in memory does not match the database. */
  let nextChunk: number | undefined
  /** Rows behind those in the builder are not all in `waiting`. */
  let isBehindRows = false
  /** True when `step` reads such rows: once blocks are added or removed; before, `sealNext` reads them. */
  let follows = false
  let waiting: Item[] = []
  let added = 0
  let settled = false
  /** The full chunk that is not sealed yet; `at` is how many blocks had been added. */
  let full: { chunk: number; builder: ChunkBuilder; at: number } | undefined
  let sealing: SealJob | undefined
  let job: MergeJob | undefined

  const begin = (): number => {
    for (const { id } of store.segments('building')) store.setState(id, 'dropped')
    forget()
    builder.clear()
    isBehindRows = true
    return sealedChunks(store.segments('live'))
  }
  const forget = () => {
    nextChunk = undefined
    waiting = []
    full = undefined
    sealing = undefined
    job = undefined
  }
  const beginSealing = () => {
    if (full) sealing = createSealJob(store, full.chunk, full.builder)
    full = undefined
  }
  const finishSealing = () => {
    if (!sealing) beginSealing()
    while (sealing?.step());
    sealing = undefined
  }
  const sealFull = (chunk: number): number => {
    if (builder.count < chunkSize) return chunk
    finishSealing()
    full = { chunk, builder, at: added }
    spare ??= createChunkBuilder()
    ;[builder, spare] = [spare, builder]
    builder.clear()
    return chunk + 1
  }
  /** Hashes waiting items, oldest first. */
  const takeWaiting = (count: number) => {
    for (const item of waiting.slice(0, count)) {
      keys.add(item, builder)
      nextChunk = sealFull(nextChunk!)
    }
    waiting = waiting.slice(count)
  }
  /** Hashes the next rows: at most `limit`, and up to the end of the chunk. */
  const takeRows = (limit: number) => {
    const from = nextChunk! * chunkSize + builder.count
    const to = Math.min(stored.count(), from + limit, (nextChunk! + 1) * chunkSize)
    for (const item of stored.read(from, to)) keys.add(item, builder)
    nextChunk = sealFull(nextChunk!)
    isBehindRows = to > from
  }
  /** Keeps the hashes of the first `count` items. The other items are read again. */
  const truncateBuilders = (count: number) => {
    waiting = []
    isBehindRows = true
    if (nextChunk === undefined) return
    if (full && count < nextChunk * chunkSize) {
      ;[builder, spare] = [full.builder, builder]
      nextChunk = full.chunk
      full = undefined
    }
    const kept = count - nextChunk * chunkSize
    if (kept < 0) nextChunk = undefined
    else builder.truncate(kept)
  }
  const step = (): boolean => {
    if (follows) nextChunk ??= begin()
    // Before the next chunk is full, which would have it sealed in one go.
    const isDue = full && (settled || added - full.at >= SETTLED_BLOCKS || builder.count >= chunkSize / 2)
    if (isDue && !sealing) beginSealing()
    if (sealing) {
      if (!sealing.step()) sealing = undefined
      return true
    }
    if (follows && isBehindRows) {
      takeRows(Math.min(STEP_ROWS, chunkSize / 2))
      return true
    }
    if (waiting.length > 0) {
      takeWaiting(STEP_ITEMS)
      return true
    }
    const [dropped] = job ? [] : store.segments('dropped')
    if (dropped) {
      store.deleteRows(dropped.id, DELETE_ROWS)
      return true
    }
    const sources = job ? undefined : findMergeable(store.segments('live'), store.maxLevel)
    if (!job && !sources) return false
    job ??= createMergeJob(store, sources!)
    if (!job.step()) job = undefined
    return true
  }
  return {
    add: (items) => {
      added++
      settled = false
      follows = true
      if (nextChunk === undefined) {
        nextChunk = begin()
        // Unless these are the first rows without a segment, those before them must be read.
        isBehindRows = stored.count() - items.length > nextChunk * chunkSize
      }
      if (isBehindRows) return // the rows are stored already, and are read with those before them
      waiting.push(...items)
      if (waiting.length > MAX_WAITING) takeWaiting(waiting.length)
    },
    settle: () => {
      settled = true
    },
    isBehind: () => stored.count() - sealedChunks(store.segments('live')) * chunkSize >= chunkSize,
    step,
    work: (budgetMs) => stepInTurn([{ step }], budgetMs),
    truncate: () => {
      const count = stored.count()
      const kept = Math.floor(count / chunkSize)
      for (const segment of store.segments('live')) {
        if (segment.firstChunk + chunksOf(segment.level) > kept) store.setState(segment.id, 'dropped')
      }
      truncateBuilders(count)
      follows = true
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
      takeWaiting(waiting.length)
      if (!sealing && !full) {
        if ((nextChunk + 1) * chunkSize > stored.count()) return false
        takeRows(chunkSize)
      }
      finishSealing()
      return true
    },
    forget,
  }
}

/** Steps several indexers in turn for about `budgetMs`, so that none waits for another's long merge. True if work is
 *  left. */
export function stepInTurn(indexers: readonly { step(): boolean }[], budgetMs: number): boolean {
  const end = performance.now() + budgetMs
  let busy = indexers.slice()
  while (busy.length > 0) {
    busy = busy.filter((indexer) => indexer.step())
    if (busy.length > 0 && performance.now() > end) return true
  }
  return false
}
