import type { Database } from '../../store/database.js'
import { chunksOf, createSegmentStore, sealedChunks } from '../../store/index/segmentStore.js'
import type { IndexKind } from './indexKind.js'
import { readIndexSettings } from './indexSettings.js'
import { CHUNK_BITS } from './postings.js'

/** The state of an index. */
export interface IndexSummary {
  /** Live segments by level, ascending; empty levels are left out. */
  levels: { level: number; segments: number; items: number }[]
  /** Items covered by segments. */
  sealed: number
  /** Items in the tail, searched in memory. */
  tail: number
  /** Segments being built, and merged ones waiting for deletion. */
  building: number
  dropped: number
}

/** The state of an index. */
export function describeIndex(db: Database, kind: IndexKind<unknown>): IndexSummary {
  const store = createSegmentStore(db, kind.tables)
  const chunkSize = 2 ** (readIndexSettings(db)?.chunkBits ?? CHUNK_BITS)
  const live = store.segments('live')
  const sealed = sealedChunks(live) * chunkSize
  const numbers = Array.from(new Set(live.map(({ level }) => level))).sort((a, b) => a - b)
  return {
    levels: numbers.map((level) => {
      const segments = live.filter((segment) => segment.level === level).length
      return { level, segments, items: segments * chunksOf(level) * chunkSize }
    }),
    sealed,
    tail: Math.max(0, kind.openStored(db).count() - sealed),
    building: store.segments('building').length,
    dropped: store.segments('dropped').length,
  }
}
