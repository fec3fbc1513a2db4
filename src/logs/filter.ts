import type { Log } from '../chain/eth/types.js'
import { equalBytes, keyOfBytes } from '../lib/bytes.js'
import { TooManyTopics } from './errors.js'

/** Which logs are wanted. */
export interface LogFilter {
  fromBlock: number // inclusive
  toBlock: number // inclusive
  /** 20 bytes each; one of them. Undefined or empty: any. */
  addresses?: Uint8Array[]
  /** By position: one of the 32-byte values. Null or empty: any value, yet a topic must be there. So `[null, null]`
   *  wants logs of at least two topics (geth's rule for the length of the list). At most four positions. */
  topics: (Uint8Array[] | null)[]
}

/** Topics of a log: LOG0 to LOG4. */
const MAX_TOPICS = 4

/** The same filter without repeated values, with undefined and null for empty lists.
 *  @throws TooManyTopics beyond four positions. */
export function normalizeFilter(filter: LogFilter): LogFilter {
  if (filter.topics.length > MAX_TOPICS) throw new TooManyTopics({ count: filter.topics.length })
  return {
    fromBlock: filter.fromBlock,
    toBlock: filter.toBlock,
    addresses: filter.addresses?.length ? withoutRepeats(filter.addresses) : undefined,
    topics: filter.topics.map((values) => (values?.length ? withoutRepeats(values) : null)),
  }
}

/** How many addresses and topic values the filter names, repeated ones too. */
export function countFilterParams(filter: LogFilter): number {
  let count = filter.addresses?.length ?? 0
  for (const values of filter.topics) count += values?.length ?? 0
  return count
}

/** True when the log of a block in the range is wanted: the definition that every index must agree with. */
export function matchesFilter(log: Log, filter: LogFilter): boolean {
  if (filter.topics.length > log.topics.length) return false
  if (filter.addresses?.length && !includesBytes(filter.addresses, log.address)) return false
  return filter.topics.every((values, i) => !values?.length || includesBytes(values, log.topics[i]))
}

/** `matchesFilter` of a normalized filter for many logs: lists, which may have thousands of values, are sets. */
export function createFilterTest({ addresses, topics }: LogFilter): (log: Log) => boolean {
  const setOf = (values: Uint8Array[] | null | undefined) => values && new Set(values.map(keyOfBytes))
  const wantedAddresses = setOf(addresses)
  const wantedTopics = topics.map(setOf)
  return (log) =>
    log.topics.length >= topics.length &&
    (!wantedAddresses || wantedAddresses.has(keyOfBytes(log.address))) &&
    wantedTopics.every((wanted, i) => !wanted || wanted.has(keyOfBytes(log.topics[i])))
}

function includesBytes(values: Uint8Array[], wanted: Uint8Array): boolean {
  return values.some((value) => equalBytes(value, wanted))
}

function withoutRepeats(values: Uint8Array[]): Uint8Array[] {
  if (values.length === 1) return values
  const byText = new Map<string, Uint8Array>()
  for (const value of values) byText.set(keyOfBytes(value), value)
  return [...byText.values()]
}
