import { bigIntToFixedBytes } from '../lib/bytes.js'

/** Type of a column: u32 and u64 unsigned, i64 signed, f64 a double, binary bytes. CSV and NDJSON write binary as hex
 *  DATA. */
export type ColumnType = 'u32' | 'u64' | 'i64' | 'f64' | 'bool' | 'binary' | 'string'

/** A column of a dataset. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** True for a time in Unix milliseconds, of type i64, which Parquet has as a timestamp. */
  readonly isTimestamp?: boolean
}

/** A value. Integers are numbers or bigints. */
export type Cell = number | bigint | boolean | string | Uint8Array | null

/** The values of a row in the order of the columns. */
export type Row = readonly Cell[]

/** Creates columns that are never null. */
export function columns(type: ColumnType, ...names: readonly string[]): Column[] {
  return names.map((name) => ({ name, type, nullable: false }))
}

/** Creates columns that may be null. */
export function nullable(type: ColumnType, ...names: readonly string[]): Column[] {
  return names.map((name) => ({ name, type, nullable: true }))
}

/** Creates the three columns of a 256-bit integer, as in cryo: big-endian bytes, decimal text, and the nearest
 *  double. */
export function uint256(name: string): Column[] {
  return [
    ...columns('binary', `${name}_binary`),
    ...columns('string', `${name}_string`),
    ...columns('f64', `${name}_f64`),
  ]
}

/** Returns the cells of `uint256`; the bytes of a negative value are two's complement. */
export function uint256Cells(value: bigint): [Uint8Array, string, number] {
  return [bigIntToFixedBytes(BigInt.asUintN(256, value), 32), value.toString(), Number(value)]
}

const MAX_U32 = 2n ** 32n - 1n
const MAX_U64 = 2n ** 64n - 1n

/** Returns the value for a u32 column, capped at its maximum. */
export function toU32(value: bigint): number {
  return Number(value > MAX_U32 ? MAX_U32 : value)
}

/** Returns the value for a u64 column, capped at its maximum. */
export function toU64(value: bigint): bigint {
  return value > MAX_U64 ? MAX_U64 : value
}

/** Like `toU64`; null for undefined. */
export function toU64OrNull(value: bigint | undefined): bigint | null {
  return value === undefined ? null : toU64(value)
}
