import { createIndexedLogs } from '../../store/rows/log.js'
import type { IndexedLog } from '../../store/rows/types.js'
import type { IndexKind } from '../segments/indexKind.js'
import { createLogKeys } from './logKeys.js'

/** The index of logs by their addresses and topics. */
export const LOG_SEARCH_INDEX: IndexKind<IndexedLog> = {
  name: 'log index',
  item: 'log',
  items: 'logs',
  tables: {
    segments: 'log_segments',
    buckets: 'log_buckets',
    bigPostings: 'log_big_postings',
    hasPairs: true,
    // 2^22 logs, whose largest blobs are 512 KiB; 16 bits of bucket.
    maxLevel: 2,
    bucketSpace: 2 ** 20,
  },
  openStored: createIndexedLogs,
  createKeys: createLogKeys,
}
