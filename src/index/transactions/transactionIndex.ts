import type { Database } from '../../store/database.js'
import { createTransactionHashes } from '../../store/rows/transactionHashes.js'
import { SegmentIndexer } from '../segments/indexer.js'
import type { IndexKind, ItemKeys } from '../segments/indexKind.js'
import type { KeyHasher } from '../segments/keyHash.js'

/** Position of transaction hashes in keys: 0 to 5 are those of logs. */
export const HASH_POSITION = 6

/** The index of transactions by their 32-byte hashes. */
export const TRANSACTION_INDEX: IndexKind<Uint8Array> = {
  name: 'transaction index',
  item: 'transaction',
  items: 'transactions',
  tables: {
    segments: 'transaction_segments',
    buckets: 'transaction_buckets',
    // A lookup searches segment after segment, so few are better: 2^28 transactions, 22 bits of bucket. Keys are
    // unique, and buckets of every level are below 1 KB.
    maxLevel: 4,
    bucketSpace: 2 ** 24,
  },
  openStored: createTransactionHashes,
  createKeys: createHashKeys,
}

/** The writer of the transaction index. */
type TransactionIndexer = SegmentIndexer<Uint8Array>

/** Creates the indexer of a database opened for writing. */
export function createTransactionIndexer(db: Database, options: { chunkBits?: number } = {}): TransactionIndexer {
  return new SegmentIndexer(db, TRANSACTION_INDEX, options)
}

function createHashKeys(hasher: KeyHasher): ItemKeys<Uint8Array> {
  return {
    add: (hash, builder) => {
      hasher.hashBytes(HASH_POSITION, hash)
      builder.addKey(hasher.high, hasher.low)
      builder.endItem()
    },
  }
}
