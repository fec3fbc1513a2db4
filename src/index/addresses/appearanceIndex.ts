import { createAppearanceReader } from '../../store/rows/appearances.js'
import type { IndexKind, ItemKeys } from '../segments/indexKind.js'
import type { KeyHasher } from '../segments/keyHash.js'

/** Position of addresses in keys: 0 to 5 are those of logs, 6 is that of transaction hashes. */
export const ADDRESS_POSITION = 7

/** The index of transactions by the addresses in which they appear. An item is the ids of the addresses. */
export const ADDRESS_INDEX: IndexKind<readonly number[]> = {
  name: 'address index',
  item: 'transaction',
  items: 'transactions',
  tables: {
    segments: 'address_segments',
    buckets: 'address_buckets',
    bigPostings: 'address_big_postings',
    // As for logs: the largest blobs have 512 KiB.
    maxLevel: 2,
    bucketSpace: 2 ** 20,
  },
  openStored: createAppearanceReader,
  createKeys: createAddressKeys,
}

function createAddressKeys(hasher: KeyHasher): ItemKeys<readonly number[]> {
  return {
    add: (ids, builder) => {
      for (const id of ids) {
        hasher.hashId(ADDRESS_POSITION, id)
        builder.addKey(hasher.high, hasher.low)
      }
      builder.endItem()
    },
  }
}
