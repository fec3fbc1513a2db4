import { createSegmentIndexer, type IndexParts, type SegmentIndexer } from '../segments/indexer.js'
import { requireIndexSettings } from '../segments/indexSettings.js'
import { createKeyHasher } from '../segments/keyHash.js'
import { createSegmentStore } from '../segments/segmentStore.js'
import type { Database } from '../store/open.js'
import { createLogKeys } from './logKeys.js'
import { createStoredLogs, type IndexedLog } from './storedLogs.js'

/** The writer of the log index. */
export type LogIndexer = SegmentIndexer<IndexedLog>

/** The indexer of a database opened for writing. */
export function createLogIndexer(db: Database, options: { chunkBits?: number } = {}): LogIndexer {
  const { secret, chunkBits } = requireIndexSettings(db, options.chunkBits)
  const parts: IndexParts<IndexedLog> = {
    store: createSegmentStore(db),
    stored: createStoredLogs(db),
    addKeys: createLogKeys(createKeyHasher(secret)),
    chunkBits,
  }
  return createSegmentIndexer(parts)
}
