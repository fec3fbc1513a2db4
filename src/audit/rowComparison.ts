import { equalBytes } from '../lib/bytes.js'
import type { RowValue } from '../store/columns.js'
import type { RawRow } from '../store/rows/rawRows.js'
import { DatabaseFault, type FaultPlace } from './fault.js'

/** Compares the named columns of a row with the values the writer would store. @throws DatabaseFault for the first
 *  difference */
export function compareColumns(
  place: FaultPlace,
  row: RawRow,
  columns: readonly string[],
  values: readonly unknown[],
): void {
  for (let i = 0; i < columns.length; i++) {
    const [found, expected] = [row[columns[i]], values[i]]
    if (!isStoredAs(found, expected)) throw new DatabaseFault(place, { field: columns[i], expected, found })
  }
}

/** True when a column bound to `expected` reads as `found`: integers are read as numbers. */
export function isStoredAs(found: RowValue, expected: unknown): boolean {
  if (expected instanceof Uint8Array) return found instanceof Uint8Array && equalBytes(found, expected)
  return found === (typeof expected === 'bigint' ? Number(expected) : expected)
}
