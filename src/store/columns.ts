import { customType } from 'drizzle-orm/sqlite-core'

/** The stored form of an unsigned integer of up to 256 bits: an SQL integer up to 2^53 - 1, decimal text above.
 *  `CAST(x AS TEXT)` is exact and `CAST(x AS REAL)` is a number for every value. The column has BLOB (no) affinity: an
 *  INTEGER column would turn large decimal text into a REAL. */
export type StoredUint = number | string

/** Encodes a non-negative integer for binding. better-sqlite3 binds every number as a REAL, which a column without
 *  affinity keeps, so integers are bound as bigint. */
export function encodeUint(value: bigint): bigint | string {
  return value <= 9007199254740991n ? value : value.toString()
}

/** Decodes the stored form of an integer. */
export function decodeUint(value: StoredUint): bigint {
  return BigInt(value)
}

/** Encodes an integer that may be absent; null for undefined. */
export const uintOrNull = (value: bigint | undefined) => (value === undefined ? null : encodeUint(value))

/** Decodes the stored form of an integer that may be absent; undefined for null. */
export const decodeOptionalUint = (value: StoredUint | null) => (value === null ? undefined : decodeUint(value))

/** A value for binding: a bigint becomes an SQL integer. */
export type RowValue = null | number | bigint | string | Uint8Array

/** A column of `StoredUint`. */
export const uint = customType<{ data: StoredUint; driverData: StoredUint }>({ dataType: () => 'blob' })

/** A column of raw bytes. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })
