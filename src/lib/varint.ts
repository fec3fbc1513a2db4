/** A position in bytes that are read in order. */
export interface Cursor {
  readonly bytes: Uint8Array
  at: number
}

/** Appends an unsigned LEB128 integer below 2^31. */
export function writeInteger(bytes: number[], value: number): void {
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
}

/** Reads an integer of `writeInteger`. @throws RangeError where the bytes end */
export function readInteger(cursor: Cursor): number {
  const { bytes } = cursor
  let value = 0
  for (let shift = 0; ; shift += 7) {
    if (cursor.at >= bytes.length) throw new RangeError('the bytes end within an integer')
    const byte = bytes[cursor.at++]
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}

/** Appends the number of ascending integers, and each as its difference from the one before. */
export function writeAscending(bytes: number[], values: ArrayLike<number>): void {
  writeInteger(bytes, values.length)
  for (let i = 0, last = 0; i < values.length; last = values[i++]) writeInteger(bytes, values[i] - last)
}

/** Reads integers of `writeAscending`. Those above `most` are skipped. @throws RangeError where the bytes end */
export function readAscending(cursor: Cursor, most = Number.POSITIVE_INFINITY): number[] {
  const values: number[] = []
  const count = readInteger(cursor)
  for (let i = 0, value = 0; i < count; i++) {
    value += readInteger(cursor)
    if (value <= most) values.push(value)
  }
  return values
}
