import { leadingZeros } from '../lib/bytes.js'
import type { ChunkBuilder } from '../segments/chunkBuilder.js'
import type { ItemKeys } from '../segments/indexKind.js'
import type { KeyHasher } from '../segments/keyHash.js'
import type { IndexedLog } from './storedLogs.js'

/** Position of the keys that say how many topics a log has at least: their value is that number. */
export const PRESENCE_POSITION = 5

/** The keys of a log: its address under position 0, its topics under 1 to 4 without leading zeros, and for each number of
 *  topics that it has a key that says so. */
export function createLogKeys(hasher: KeyHasher): ItemKeys<IndexedLog> {
  const presence = [1, 2, 3, 4].map((topics) => {
    hasher.hashId(PRESENCE_POSITION, topics)
    return { high: hasher.high, low: hasher.low }
  })
  const add = ({ address, topics }: IndexedLog, builder: ChunkBuilder) => {
    hasher.hashBytes(0, address)
    builder.addKey(hasher.high, hasher.low)
    for (let i = 0; i < topics.length; i++) {
      hasher.hashBytes(i + 1, topics[i], leadingZeros(topics[i]))
      builder.addKey(hasher.high, hasher.low)
      builder.addKey(presence[i].high, presence[i].low)
    }
    builder.endItem()
  }
  return { add }
}
