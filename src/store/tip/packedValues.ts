import type { RowValue } from '../chain/bodyRows.js'

/* Values of rows one after another. The first byte of each says what follows: up to 0xef so many bytes, or one of these. */

const MAX_SHORT = 0xef
const NULL = 0xf0
/** An integer: one byte, four, or eight of a double. */
const INTEGER_8 = 0xf1
const INTEGER_32 = 0xf2
const INTEGER_53 = 0xf3
/** The decimal digits of an integer above 2^53 - 1: their count in a byte, and ASCII. */
const DIGITS = 0xf4
/** Bytes behind a length of four bytes. */
const LONG = 0xf5

const FIRST_CAPACITY = 2 ** 16
// What a value takes at most besides bytes and digits of its own.
const VALUE_BYTES = 9
// More digits than any integer of a row has, and most byte strings: room for so much is made without a look at the values.
const SHORT_BYTES = 80

/** Packs values into one array of bytes. */
export interface ValueWriter {
  /** Integers are from 0 to 2^53 - 1. */
  add(values: readonly RowValue[]): void
  /** What was added since the last time; overwritten by what is added next. */
  take(): Buffer
  /** Forgets what was added. */
  clear(): void
}

/** A writer that keeps its memory from one time to the next. */
export function createValueWriter(): ValueWriter {
  let bytes = Buffer.allocUnsafe(FIRST_CAPACITY)
  let end = 0
  const reserve = (length: number) => {
    if (end + length <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, end + length))
    larger.set(bytes.subarray(0, end))
    bytes = larger
  }
  const clear = () => {
    end = 0
  }
  return {
    add: (values) => {
      reserve(values.length * (VALUE_BYTES + SHORT_BYTES))
      for (let i = 0; i < values.length; i++) {
        const value = values[i]
        if (typeof value !== 'object') end = putNumber(bytes, end, value)
        else if (value === null) bytes[end++] = NULL
        else {
          if (value.length > SHORT_BYTES) reserve(value.length + (values.length - i) * (VALUE_BYTES + SHORT_BYTES))
          end = putBytes(bytes, end, value)
        }
      }
    },
    take: () => {
      const packed = bytes.subarray(0, end)
      clear()
      return packed
    },
    clear,
  }
}

function putNumber(out: Buffer, at: number, value: number | bigint | string): number {
  if (typeof value !== 'string') return putInteger(out, at, Number(value))
  out[at] = DIGITS
  out[at + 1] = value.length
  return at + 2 + out.write(value, at + 2, 'latin1')
}

function putInteger(out: Buffer, at: number, value: number): number {
  if (value < 2 ** 8) {
    out[at] = INTEGER_8
    out[at + 1] = value
    return at + 2
  }
  if (value < 2 ** 32) {
    out[at] = INTEGER_32
    out[at + 1] = value
    out[at + 2] = value >>> 8
    out[at + 3] = value >>> 16
    out[at + 4] = value >>> 24
    return at + 5
  }
  out[at] = INTEGER_53
  return out.writeDoubleLE(value, at + 1)
}

function putBytes(out: Buffer, at: number, source: Uint8Array): number {
  const { length } = source
  let start = at + 1
  if (length <= MAX_SHORT) out[at] = length
  else {
    out[at] = LONG
    start = out.writeUInt32LE(length, start)
  }
  out.set(source, start)
  return start + length
}

/** A value as it is read from a row. */
export type PackedValue = null | number | string | Uint8Array

/** Gives the values of a `ValueWriter` in their order, integers as numbers. Bytes are views of `packed`. */
export function createValueReader(packed: Buffer): () => PackedValue {
  let at = 0
  const take = (length: number) => {
    const from = at
    at += length
    return packed.subarray(from, at)
  }
  return () => {
    const kind = packed[at++]
    if (kind <= MAX_SHORT) return take(kind)
    switch (kind) {
      case NULL:
        return null
      case INTEGER_8:
        return packed[at++]
      case INTEGER_32:
        at += 4
        return packed.readUInt32LE(at - 4)
      case INTEGER_53:
        at += 8
        return packed.readDoubleLE(at - 8)
      case DIGITS: {
        const length = packed[at++]
        return take(length).toString('latin1')
      }
      case LONG:
        at += 4
        return take(packed.readUInt32LE(at - 4))
      default:
        throw new Error(`packed values: 0x${kind?.toString(16)} at ${at - 1} is no kind of value`)
    }
  }
}
