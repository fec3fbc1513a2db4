import { keyOfBytes } from '../../lib/bytes.js'
import { TooManyTopics } from './errors.js'

/** Selects logs by block range, address and topics. */
export interface LogFilter {
  fromBlock: number // inclusive
  toBlock: number // inclusive
  /** 20 bytes each; matches any of them. Undefined or empty: any address. */
  addresses?: Uint8Array[]
  /** By position: matches any of the 32-byte values. Null or empty: any value, but the topic must exist. `[null, null]`
   *  matches logs with at least two topics (geth's rule for the length of the list). At most four positions. */
  topics: (Uint8Array[] | null)[]
}

/** Most topics of a log (LOG4). */
const MAX_TOPICS = 4

/** The filter without duplicate values; empty lists become undefined or null. @throws TooManyTopics beyond four
 *  positions */
export function normalizeFilter(filter: LogFilter): LogFilter {
  if (filter.topics.length > MAX_TOPICS) throw new TooManyTopics({ count: filter.topics.length })
  return {
    fromBlock: filter.fromBlock,
    toBlock: filter.toBlock,
    addresses: filter.addresses?.length ? withoutRepeats(filter.addresses) : undefined,
    topics: filter.topics.map((values) => (values?.length ? withoutRepeats(values) : null)),
  }
}

/** Number of addresses and topic values of the filter, including duplicates. */
export function countFilterParams(filter: LogFilter): number {
  let count = filter.addresses?.length ?? 0
  for (const values of filter.topics) count += values?.length ?? 0
  return count
}

function withoutRepeats(values: Uint8Array[]): Uint8Array[] {
  if (values.length === 1) return values
  const byText = new Map<string, Uint8Array>()
  for (const value of values) byText.set(keyOfBytes(value), value)
  return [...byText.values()]
}
