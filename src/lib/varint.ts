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
