/** DATA: `0x` and two lower-case hex digits per byte; `0x` alone for no bytes. */
export function formatData(bytes: Uint8Array): string {
  // Rows contain Buffers, whose native hex is four times as fast as a loop over a table.
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return `0x${buffer.toString('hex')}`
}

// Source bytes per step: keeps intermediate strings small, however long the data.
const CHUNK_BYTES = 0x1_0000

/** DATA as JSON: the bytes of `"0x…"`. */
export function encodeDataJson(bytes: Uint8Array): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const out = Buffer.allocUnsafe(2 * source.length + 4)
  out.write('"0x', 0, 'latin1')
  for (let at = 0; at < source.length; at += CHUNK_BYTES) {
    out.write(source.toString('hex', at, at + CHUNK_BYTES), 3 + 2 * at, 'latin1')
  }
  out[out.length - 1] = 0x22
  return out
}

/** QUANTITY: `0x` and the minimal hex digits of a non-negative integer; `0x0` for zero. */
export function formatQuantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}

/** Bytes of an even-length hex text, with or without `0x`. @throws TypeError when it is not hex. */
export function parseHex(text: string): Uint8Array {
  const digits = text.startsWith('0x') || text.startsWith('0X') ? text.slice(2) : text
  const buffer = Buffer.from(digits, 'hex')
  // Buffer stops at the first non-digit, but accepts some characters beyond ASCII.
  if (buffer.length * 2 !== digits.length || Buffer.byteLength(digits) !== digits.length) {
    throw new TypeError(`expected an even number of hex digits, got ${abbreviate(text)}`)
  }
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

/** The text, if short; otherwise its first 60 characters, an ellipsis and its length. For messages. */
export function abbreviate(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 60)}… (${text.length} characters)`
}

const SHOWN_BYTES = 8

/** The difference of two long byte strings of equal length, for messages: 8 bytes of each from the first difference on.
 *  `expected` has its offset from 0 and the number of different bytes. */
export function formatDifference(expected: Uint8Array, actual: Uint8Array): { expected: string; actual: string } {
  const differing = Array.from(expected.keys()).filter((i) => expected[i] !== actual[i])
  const [first] = differing
  const show = (bytes: Uint8Array) => formatData(bytes.subarray(first, first + SHOWN_BYTES))
  const place = `at byte ${first} (${differing.length} of ${expected.length} bytes differ)`
  return { expected: `${show(expected)} ${place}`, actual: show(actual) }
}
