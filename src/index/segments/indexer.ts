import type { Database } from '../../store/database.js'
import type { SegmentStore } from '../../store/index/segmentStore.js'
import { chunksOf, createSegmentStore, sealedChunks } from '../../store/index/segmentStore.js'
import { type ChunkBuilder, createChunkBuilder } from './chunkBuilder.js'
import type { IndexKind, ItemKeys, StoredItems } from './indexKind.js'
import { requireIndexSettings } from './indexSettings.js'
import { createKeyHasher } from './keyHash.js'
import { createMergeJob, findMergeable, type MergeJob } from './merge.js'
import { createSealJob, type SealJob } from './segmentWriter.js'

// Rows deleted between two clock checks.
const DELETE_ROWS = 200
// Items hashed per step, fewer where their rows must be read, and how many may wait for it: waiting items keep their
// blocks in memory.
const STEP_ITEMS = 500
const STEP_ROWS = 150
const MAX_WAITING = 1_000
/** Blocks that a reorg is likely to reach: two epochs. */
export const SETTLED_BLOCKS = 64

/** The writer of an index. All changes belong to the caller's transaction. */
export class SegmentIndexer<Item> {
  private readonly chunkSize: number
  private readonly store: SegmentStore
  private readonly stored: StoredItems<Item>
  private readonly keys: ItemKeys<Item>
  /** Builders of the current chunk, and of the previous one until it is sealed. */
  private builder = createChunkBuilder()
  private spare: ChunkBuilder | undefined
  /** The chunk that is filling; undefined when the state in memory does not match the database. */
  private nextChunk: number | undefined
  /** Rows behind those in the builder are not all in `waiting`. */
  private isBehindRows = false
  /** True when `step` reads such rows: once blocks are added or removed; before, `sealNext` reads them. */
  private follows = false
  private waiting: Item[] = []
  private added = 0
  private isFinal = false
  /** The full chunk that is not sealed yet; `at` is how many blocks had been added. */
  private full: { chunk: number; builder: ChunkBuilder; at: number } | undefined
  private sealing: SealJob | undefined
  private job: MergeJob | undefined

  /** Creates the indexer of a writable database. Work that an earlier process left unfinished is dropped and
   *  restarted. */
  constructor(db: Database, kind: IndexKind<Item>, options: { chunkBits?: number } = {}) {
    const { secret, chunkBits } = requireIndexSettings(db, options.chunkBits)
    this.chunkSize = 2 ** chunkBits
    this.store = createSegmentStore(db, kind.tables)
    this.stored = kind.openStored(db)
    this.keys = kind.createKeys(createKeyHasher(secret))
  }

  /** Adds the items of a stored block, in order, right after the previous ones. `work` hashes their keys later, so that
   *  storing a block is not delayed; if more than a thousand items wait, they are hashed here. A full chunk is sealed
   *  `SETTLED_BLOCKS` calls later, or when the next one is half full: a reorg of the newest blocks then meets no
   *  segment. */
  add(items: readonly Item[]): void {
    this.added++
    this.isFinal = false
    this.follows = true
    if (this.nextChunk === undefined) {
      this.nextChunk = this.begin()
      // Unless these are the first rows without a segment, those before them must be read.
      this.isBehindRows = this.stored.count() - items.length > this.nextChunk * this.chunkSize
    }
    if (this.isBehindRows) return // the rows are stored already, and are read with those before them
    this.waiting.push(...items)
    if (this.waiting.length > MAX_WAITING) this.takeWaiting(this.waiting.length)
  }

  /** Lets `step` seal full chunks at once, until the next `add`: their blocks are final. */
  sealNow(): void {
    this.isFinal = true
  }

  /** True if a full chunk of rows is not sealed, as in a database from before the index. */
  isBehind(): boolean {
    return this.stored.count() - sealedChunks(this.store.segments('live')) * this.chunkSize >= this.chunkSize
  }

  /** Does one step of about a millisecond: hashes keys, seals a full chunk, merges segments, or deletes merged ones.
   *  False if there is nothing to do. */
  step(): boolean {
    if (this.follows) this.nextChunk ??= this.begin()
    // Before the next chunk is full, which would have it sealed in one go.
    const isDue =
      this.full &&
      (this.isFinal || this.added - this.full.at >= SETTLED_BLOCKS || this.builder.count >= this.chunkSize / 2)
    if (isDue && !this.sealing) this.beginSealing()
    if (this.sealing) {
      if (!this.sealing.step()) this.sealing = undefined
      return true
    }
    if (this.follows && this.isBehindRows) {
      this.takeRows(Math.min(STEP_ROWS, this.chunkSize / 2))
      return true
    }
    if (this.waiting.length > 0) {
      this.takeWaiting(STEP_ITEMS)
      return true
    }
    const [dropped] = this.job ? [] : this.store.segments('dropped')
    if (dropped) {
      this.store.deleteRows(dropped.id, DELETE_ROWS)
      return true
    }
    const sources = this.job ? undefined : findMergeable(this.store.segments('live'), this.store.maxLevel)
    if (!this.job && !sources) return false
    this.job ??= createMergeJob(this.store, sources!)
    if (!this.job.step()) this.job = undefined
    return true
  }

  /** Steps for about `budgetMs`. True if work is left. */
  work(budgetMs: number): boolean {
    return stepInTurn([{ step: () => this.step() }], budgetMs)
  }

  /** Drops the segments with deleted items, after the deletion of their rows. `work` seals those of their chunks again
   *  that are still full. */
  truncate(): void {
    const count = this.stored.count()
    const kept = Math.floor(count / this.chunkSize)
    for (const segment of this.store.segments('live')) {
      if (segment.firstChunk + chunksOf(segment.level) > kept) this.store.setState(segment.id, 'dropped')
    }
    this.truncateBuilders(count)
    this.follows = true
  }

  /** Drops all segments, and rows without a segment: every item is then in the tail. */
  drop(): void {
    for (const state of ['live', 'building'] as const) {
      for (const { id } of this.store.segments(state)) this.store.setState(id, 'dropped')
    }
    this.store.dropStrayRows()
    this.nextChunk = undefined
  }

  /** Seals the next full chunk of stored items in about 0.3 s, or finishes a started one. False if no chunk is left. */
  sealNext(): boolean {
    this.nextChunk ??= this.begin()
    this.takeWaiting(this.waiting.length)
    if (!this.sealing && !this.full) {
      if ((this.nextChunk + 1) * this.chunkSize > this.stored.count()) return false
      this.takeRows(this.chunkSize)
    }
    this.finishSealing()
    return true
  }

  /** Drops the state in memory; call it after a rollback. */
  clear(): void {
    this.nextChunk = undefined
    this.waiting = []
    this.full = undefined
    this.sealing = undefined
    this.job = undefined
  }

  private begin(): number {
    for (const { id } of this.store.segments('building')) this.store.setState(id, 'dropped')
    this.clear()
    this.builder.clear()
    this.isBehindRows = true
    return sealedChunks(this.store.segments('live'))
  }

  private beginSealing(): void {
    if (this.full) this.sealing = createSealJob(this.store, this.full.chunk, this.full.builder)
    this.full = undefined
  }

  private finishSealing(): void {
    if (!this.sealing) this.beginSealing()
    while (this.sealing?.step());
    this.sealing = undefined
  }

  private sealFull(chunk: number): number {
    if (this.builder.count < this.chunkSize) return chunk
    this.finishSealing()
    this.full = { chunk, builder: this.builder, at: this.added }
    this.spare ??= createChunkBuilder()
    ;[this.builder, this.spare] = [this.spare, this.builder]
    this.builder.clear()
    return chunk + 1
  }

  /** Hashes waiting items, oldest first. */
  private takeWaiting(count: number): void {
    for (const item of this.waiting.slice(0, count)) {
      this.keys.add(item, this.builder)
      this.nextChunk = this.sealFull(this.nextChunk!)
    }
    this.waiting = this.waiting.slice(count)
  }

  /** Hashes the next rows: at most `limit`, and up to the end of the chunk. */
  private takeRows(limit: number): void {
    const from = this.nextChunk! * this.chunkSize + this.builder.count
    const to = Math.min(this.stored.count(), from + limit, (this.nextChunk! + 1) * this.chunkSize)
    for (const item of this.stored.read(from, to)) this.keys.add(item, this.builder)
    this.nextChunk = this.sealFull(this.nextChunk!)
    this.isBehindRows = to > from
  }

  /** Keeps the hashes of the first `count` items. The other items are read again. */
  private truncateBuilders(count: number): void {
    this.waiting = []
    this.isBehindRows = true
    if (this.nextChunk === undefined) return
    if (this.full && count < this.nextChunk * this.chunkSize) {
      ;[this.builder, this.spare] = [this.full.builder, this.builder]
      this.nextChunk = this.full.chunk
      this.full = undefined
    }
    const kept = count - this.nextChunk * this.chunkSize
    if (kept < 0) this.nextChunk = undefined
    else this.builder.truncate(kept)
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
