import type { Database } from '../../store/database.js'
import type { IndexedLog } from '../../store/rows/types.js'
import { SegmentIndexer } from '../segments/indexer.js'
import { LOG_SEARCH_INDEX } from './logSearchIndex.js'

/** Writes the log index. */
type LogIndexer = SegmentIndexer<IndexedLog>

/** Creates the log indexer of a database opened for writing. */
export function createLogIndexer(db: Database, options: { chunkBits?: number } = {}): LogIndexer {
  return new SegmentIndexer(db, LOG_SEARCH_INDEX, options)
}
