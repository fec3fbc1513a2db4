import { createSegmentIndexer, type SegmentIndexer } from '../segments/indexer.js'
import type { Database } from '../store/database.js'
import { LOG_SEARCH_INDEX } from './logSearchIndex.js'
import type { IndexedLog } from './storedLogs.js'

/** The writer of the log index. */
export type LogIndexer = SegmentIndexer<IndexedLog>

/** The indexer of a database opened for writing. */
export function createLogIndexer(db: Database, options: { chunkBits?: number } = {}): LogIndexer {
  return createSegmentIndexer(db, LOG_SEARCH_INDEX, options)
}
