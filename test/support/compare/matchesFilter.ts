import type { Log } from '../../../src/chain/eth/types.js'
import type { LogFilter } from '../../../src/index/logs/filter.js'
import { equalBytes } from '../../../src/lib/bytes.js'

/** True when the log of a block in the range matches. Defines the result that every index must agree with. */
export function matchesFilter(log: Log, filter: LogFilter): boolean {
  if (filter.topics.length > log.topics.length) return false
  if (filter.addresses?.length && !includesBytes(filter.addresses, log.address)) return false
  return filter.topics.every((values, i) => !values?.length || includesBytes(values, log.topics[i]))
}

function includesBytes(values: Uint8Array[], wanted: Uint8Array): boolean {
  return values.some((value) => equalBytes(value, wanted))
}
