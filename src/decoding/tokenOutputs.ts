import { bytesToBigInt } from '../lib/bytes.js'

/* Outputs of `name()`, `symbol()`, `decimals()` and others of token contracts. Contracts return anything. */

/** Characters of a name or symbol; a longer one is cut, and ends with `…`. */
export const MAX_TEXT_CHARACTERS = 256

// C0 and C1 controls, line separators, and what changes the direction of text or is invisible: a name must not look
// like another one, or control a terminal.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu

/** Returns the text of `name()` or `symbol()`: a string, or `bytes32` as of tokens from before the standard. Bytes that
 *  are no UTF-8, control characters, and characters that are invisible or change the direction of text become U+FFFD;
 *  at most 256 characters, then `…`. Null if the output is neither. */
export function readTokenText(output: Uint8Array): string | null {
  const bytes = output.length === 32 ? withoutZeros(output) : readStringBytes(output)
  if (bytes === undefined) return null
  // A character takes at most 4 bytes: more need not be decoded.
  const part = bytes.subarray(0, 4 * (MAX_TEXT_CHARACTERS + 1))
  const characters = [...Buffer.from(part).toString('utf8').replace(UNSAFE, '\ufffd')]
  if (characters.length <= MAX_TEXT_CHARACTERS && part.length === bytes.length) return characters.join('')
  return `${characters.slice(0, MAX_TEXT_CHARACTERS).join('')}…`
}

/** Returns the integer of an output of at least 32 bytes; null for a shorter one. */
export function readTokenInteger(output: Uint8Array): bigint | null {
  return output.length < 32 ? null : bytesToBigInt(output.subarray(0, 32))
}

/** Returns the number of `decimals()`; null above 255, which `uint8` has no space for. */
export function readTokenDecimals(output: Uint8Array): number | null {
  const value = readTokenInteger(output)
  return value === null || value > 255n ? null : Number(value)
}

/** Returns the boolean of an output: true for 1 alone. */
export function readTokenFlag(output: Uint8Array): boolean {
  return readTokenInteger(output) === 1n
}

/** Returns the address of an output, 20 bytes; null if it is none. */
export function readTokenAddress(output: Uint8Array): Uint8Array | null {
  const value = readTokenInteger(output)
  return value === null || value >> 160n ? null : output.subarray(12, 32)
}

function withoutZeros(word: Uint8Array): Uint8Array {
  let end = word.length
  while (end > 0 && word[end - 1] === 0) end--
  return word.subarray(0, end)
}

/** Returns the bytes of an encoded string; undefined if they do not end within the output. */
function readStringBytes(output: Uint8Array): Uint8Array | undefined {
  const offset = readLength(output, 0)
  const length = offset === undefined ? undefined : readLength(output, offset)
  if (offset === undefined || length === undefined || offset + 32 + length > output.length) return undefined
  return output.subarray(offset + 32, offset + 32 + length)
}

function readLength(output: Uint8Array, at: number): number | undefined {
  if (at + 32 > output.length) return undefined
  const value = bytesToBigInt(output.subarray(at, at + 32))
  return value <= BigInt(output.length) ? Number(value) : undefined
}
