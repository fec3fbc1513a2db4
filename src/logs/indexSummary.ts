import { readIndexSettings } from '../segments/indexSettings.js'
import { CHUNK_BITS } from '../segments/postings.js'
import { chunksOf, createSegmentStore, sealedChunks } from '../segments/segmentStore.js'
import type { Database } from '../store/open.js'
import { createStoredLogs } from './storedLogs.js'

/** The state of a log index. */
export interface LogIndexSummary {
  /** The live segments by level, ascending; levels without any are left out. */
  levels: { level: number; segments: number; logs: number }[]
  /** Logs that queries find through segments. */
  sealedLogs: number
  /** Logs behind them, which queries scan in memory. */
  tailLogs: number
  /** Segments under way, and merged ones that wait for deletion. */
  building: number
  dropped: number
}

/** How far the log index of a database is. */
export function describeLogIndex(db: Database): LogIndexSummary {
  const store = createSegmentStore(db)
  const chunkLogs = 2 ** (readIndexSettings(db)?.chunkBits ?? CHUNK_BITS)
  const live = store.segments('live')
  const sealedLogs = sealedChunks(live) * chunkLogs
  const numbers = Array.from(new Set(live.map(({ level }) => level))).sort((a, b) => a - b)
  return {
    levels: numbers.map((level) => {
      const segments = live.filter((segment) => segment.level === level).length
      return { level, segments, logs: segments * chunksOf(level) * chunkLogs }
    }),
    sealedLogs,
    tailLogs: Math.max(0, createStoredLogs(db).count() - sealedLogs),
    building: store.segments('building').length,
    dropped: store.segments('dropped').length,
  }
}
