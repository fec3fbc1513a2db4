import type { Database } from '../store/database.js'
import { chunksOf, createSegmentStore, sealedChunks } from '../store/segments/segmentStore.js'
import { type ChunkBuilder, createChunkBuilder } from './chunkBuilder.js'
import type { IndexKind } from './indexKind.js'
import { requireIndexSettings } from './indexSettings.js'
import { createKeyHasher } from './keyHash.js'
import { createMergeJob, findMergeable, type MergeJob } from './merge.js'
import { createSealJob, type SealJob } from './segmentWriter.js'

/** The writer of an index. Everything takes effect with the transaction that the caller is in. */
export interface SegmentIndexer<Item> {
  /** Takes the items of a stored block, in their order and right after those taken before. What there is to do with them
   *  is done by `work`, so that a block is stored without delay; only when more than a thousand wait, on the spot. */
  add(items: readonly Item[]): void
  /** True when there are rows for a full chunk that is not sealed, as in a database made before there was an index. */
  isBehind(): boolean
  /** Does a step, of about a millisecond, of what is to be done: hashes the keys of items, seals the full chunk, merges
   *  segments, or deletes what was merged; false when there is nothing. */
  step(): boolean
  /** Steps for about `budgetMs`; true when there is more to do. */
  work(budgetMs: number): boolean
  /** Makes the index that of the items that there are, after the rows of later ones were deleted. */
  truncate(): void
  /** Drops all segments, and whatever rows lie in the index without one: every item is in the tail then. */
  drop(): void
  /** Seals the next chunk that is full of stored items, or what is left of one, in about 0.3 s; false when there is
   *  none. */
  sealNext(): boolean
  /** Forgets what lies in memory: to be called after a rollback. */
  forget(): void
}

// Rows deleted at a time between two looks at the clock.
const DELETE_ROWS = 200
// Items whose keys are hashed in one step, and how many may wait for that: their blocks are kept from being freed.
const STEP_ITEMS = 500
const MAX_WAITING = 1_000

/** The indexer of a database opened for writing. What an earlier process left unfinished is given up and begun again. */
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
  /** Of the chunk that fills, and of the one before while it is sealed. */
  let builder = createChunkBuilder()
  let spare: ChunkBuilder | undefined
  let nextChunk: number | undefined
  let waiting: Item[] = []
  let sealing: SealJob | undefined
  let job: MergeJob | undefined

  const begin = (): number => {
    for (const { id } of store.segments('building')) store.setState(id, 'dropped')
    waiting = []
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
    if (builder.count < chunkSize) return chunk
    finishSealing()
    sealing = createSealJob(store, chunk, builder)
    spare ??= createChunkBuilder()
    ;[builder, spare] = [spare, builder]
    builder.clear()
    return chunk + 1
  }
  /** Takes items that wait, those first that came first. */
  const takeWaiting = (count: number) => {
    for (const item of waiting.slice(0, count)) {
      keys.add(item, builder)
      nextChunk = sealFull(nextChunk!)
    }
    waiting = waiting.slice(count)
  }
  /** Takes the rows that no segment covers, up to `end`, as far as they are not taken. */
  const catchUp = (end: number) => {
    nextChunk ??= begin()
    takeWaiting(waiting.length)
    let from = nextChunk * chunkSize + builder.count
    while (from < end) {
      const to = Math.min(end, (nextChunk + 1) * chunkSize)
      for (const item of stored.read(from, to)) keys.add(item, builder)
      nextChunk = sealFull(nextChunk)
      from = to
    }
  }
  const step = (): boolean => {
    if (waiting.length > 0) {
      takeWaiting(STEP_ITEMS)
      return true
    }
    if (sealing) {
      if (!sealing.step()) sealing = undefined
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
      // The rows are stored already: at the first time, what is before them is caught up with.
      if (nextChunk === undefined) catchUp(stored.count() - items.length)
      waiting.push(...items)
      if (waiting.length > MAX_WAITING) takeWaiting(waiting.length)
    },
    isBehind: () => stored.count() - sealedChunks(store.segments('live')) * chunkSize >= chunkSize,
    step,
    work: (budgetMs) => workInTurns([{ step }], budgetMs),
    truncate: () => {
      const count = stored.count()
      const kept = Math.floor(count / chunkSize)
      for (const segment of store.segments('live')) {
        if (segment.firstChunk + chunksOf(segment.level) > kept) store.setState(segment.id, 'dropped')
      }
      nextChunk = undefined
      catchUp(count)
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
      if (sealing) {
        finishSealing()
        return true
      }
      const end = (nextChunk + 1) * chunkSize
      if (end > stored.count()) return false
      catchUp(end)
      finishSealing()
      return true
    },
    forget: () => {
      nextChunk = undefined
      waiting = []
      sealing = undefined
      job = undefined
    },
  }
}

/** Steps of several indexers by turns for about `budgetMs`, so that none waits for another's long merges; true when there
 *  is more to do. */
export function workInTurns(indexers: readonly { step(): boolean }[], budgetMs: number): boolean {
  const end = performance.now() + budgetMs
  let busy = indexers.slice()
  while (busy.length > 0) {
    busy = busy.filter((indexer) => indexer.step())
    if (busy.length > 0 && performance.now() > end) return true
  }
  return false
}
