import { createSegmentIndexer, type SegmentIndexer } from '../segments/indexer.js'
import type { Database } from '../store/open.js'
import { LOG_INDEX } from './logIndex.js'
import type { IndexedLog } from './storedLogs.js'

/** The writer of the log index. */
export type LogIndexer = SegmentIndexer<IndexedLog>

/** The indexer of a database opened for writing. */
export function createLogIndexer(db: Database, options: { chunkBits?: number } = {}): LogIndexer {
  return createSegmentIndexer(db, LOG_INDEX, options)
}
