import { createHash } from 'node:crypto'
import { keyOfBytes } from '../../lib/bytes.js'
import type { LogFilterObject } from './logFilter.js'

/** Identifies the addresses and topics of a filter: equal for filters that differ in the order or the repetition of
 *  values or in the letter case. Takes 2 ms for 5,000 values. Returns 44 characters of base64. */
export function logFilterCacheKey({ addresses, topics }: LogFilterObject): string {
  const clauses = [addresses, ...topics].map((values) => (values?.length ? sortedValues(values) : []))
  // The counts separate the clauses. An empty clause matches any value, and the number of topics matters too.
  const hash = createHash('sha256').update(JSON.stringify(clauses.map((values) => values.length)))
  for (const values of clauses) hash.update(values.join(''), 'latin1')
  return hash.digest('base64')
}

/** Returns the values as texts of one character per byte, without duplicates. */
function sortedValues(values: readonly Uint8Array[]): string[] {
  const sorted = values.map(keyOfBytes).sort()
  return sorted.filter((value, i) => value !== sorted[i - 1])
}
