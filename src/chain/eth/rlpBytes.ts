/* RLP (Yellow Paper, appendix B) written straight into memory whose size was computed before: for long data that is
 * encoded for every block. Use `encodeRlp` for the rest. */

/** The first byte of an empty list. */
export const LIST = 0xc0
/** The first byte of an empty byte string. */
export const STRING = 0x80

/** Length of the RLP of the bytes. */
export function stringLength(bytes: Uint8Array): number {
  if (bytes.length === 1 && bytes[0] < STRING) return 1
  return headerLength(bytes.length) + bytes.length
}

/** Length of the header of a string or list of `length` bytes, which are below 2^32. */
export function headerLength(length: number): number {
  return length <= 55 ? 1 : length <= 0xff ? 2 : length <= 0xffff ? 3 : length <= 0xffffff ? 4 : 5
}

/** Writes the header of a `LIST` or `STRING` of `length` bytes at `at`; returns its end. */
export function writeHeader(out: Uint8Array, at: number, base: number, length: number): number {
  const bytes = headerLength(length) - 1
  out[at] = bytes === 0 ? base + length : base + 55 + bytes
  for (let i = 1; i <= bytes; i++) out[at + i] = length >>> (8 * (bytes - i))
  return at + 1 + bytes
}

/** Writes the RLP of the bytes at `at`; returns its end. */
export function writeString(out: Uint8Array, at: number, bytes: Uint8Array): number {
  const { length } = bytes
  let end = at
  if (length !== 1 || bytes[0] >= STRING) end = writeHeader(out, at, STRING, length)
  // Up to this length a loop is faster than the call.
  if (length <= 32) for (let i = 0; i < length; i++) out[end + i] = bytes[i]
  else out.set(bytes, end)
  return end + length
}
