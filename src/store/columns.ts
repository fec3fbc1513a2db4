import { customType } from 'drizzle-orm/sqlite-core'

/** How an unsigned integer of up to 256 bits is read from a row: an SQL integer up to 2^53 - 1, beyond that its decimal
 *  text. So `CAST(x AS TEXT)` is exact and `CAST(x AS REAL)` is a number for every value. The column's affinity is
 *  BLOB (none), since an INTEGER column would turn large decimal text into a REAL. */
export type StoredUint = number | string

/** The row form of a non-negative integer, as it is bound: better-sqlite3 binds every number as a REAL, which a column
 *  without affinity keeps, so integers go in as bigint. */
export function encodeUint(value: bigint): bigint | string {
  return value <= 9007199254740991n ? value : value.toString()
}

/** The integer of a row form. */
export function decodeUint(value: StoredUint): bigint {
  return BigInt(value)
}

/** A column of `StoredUint`. */
export const uint = customType<{ data: StoredUint; driverData: StoredUint }>({ dataType: () => 'blob' })

/** A column of raw bytes. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })
