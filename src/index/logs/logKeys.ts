import { leadingZeros } from '../../lib/bytes.js'
import type { IndexedLog } from '../../store/rows/types.js'
import type { ChunkBuilder } from '../segments/chunkBuilder.js'
import type { ItemKeys } from '../segments/indexKind.js'
import type { KeyHasher } from '../segments/keyHash.js'

/** Position of the presence keys: their value n is set when a log has at least n topics. */
export const PRESENCE_POSITION = 5

/** The keys of a log: its address at position 0, its topics at 1 to 4 without leading zeros, and one presence key per
 *  topic. */
export function createLogKeys(hasher: KeyHasher): ItemKeys<IndexedLog> {
  const presence = [1, 2, 3, 4].map((topics) => {
    hasher.hashId(PRESENCE_POSITION, topics)
    return { high: hasher.high, low: hasher.low }
  })
  // Consecutive logs often share the arrays of address and topics, whose keys are then reused.
  const last: LastKey[] = Array.from({ length: 5 }, () => ({ value: undefined, high: 0, low: 0 }))
  const addValue = (builder: ChunkBuilder, position: number, value: Uint8Array) => {
    const key = last[position]
    if (key.value !== value) {
      hasher.hashBytes(position, value, position === 0 ? 0 : leadingZeros(value))
      key.value = value
      key.high = hasher.high
      key.low = hasher.low
    }
    builder.addKey(key.high, key.low)
  }
  const add = ({ address, topics }: IndexedLog, builder: ChunkBuilder) => {
    addValue(builder, 0, address)
    for (let i = 0; i < topics.length; i++) {
      addValue(builder, i + 1, topics[i])
      builder.addKey(presence[i].high, presence[i].low)
    }
    builder.endItem()
  }
  return { add }
}

/** The last key of a position. */
interface LastKey {
  /** Immutable once set. */
  value: Uint8Array | undefined
  high: number
  low: number
}
