/** 256-bit words in a typed array: 8 limbs of 32 bits, least significant first, at the index of the first limb.
 *  Operations take the array and two indexes: `a`, the operand on top of the stack, and `b`, the one below, where the
 *  result goes. Arithmetic is modulo 2^256 (Yellow Paper, appendix H). */
export type Words = Int32Array

/** Limbs of one word. */
export const LIMBS = 8

/** Result of `toIndex` for words of 2^32 and above: no offset, length or jump target is that large. */
export const TOO_LARGE = 2 ** 40

/** The word as a number if it is below 2^32, otherwise `TOO_LARGE`. */
export function toIndex(s: Words, a: number): number {
  if ((s[a + 1] | s[a + 2] | s[a + 3] | s[a + 4] | s[a + 5] | s[a + 6] | s[a + 7]) !== 0) return TOO_LARGE
  return s[a] >>> 0
}

/** The word as a number if it is at most 2^53 - 1, otherwise infinity. */
export function toNumber(s: Words, a: number): number {
  if ((s[a + 2] | s[a + 3] | s[a + 4] | s[a + 5] | s[a + 6] | s[a + 7]) !== 0 || s[a + 1] >>> 21 !== 0) return Infinity
  return (s[a + 1] >>> 0) * 0x1_0000_0000 + (s[a] >>> 0)
}

/** Sets a word to a number from 0 to 2^53 - 1. */
export function setNumber(s: Words, a: number, value: number): void {
  // Stores into integers keep the low 32 bits and drop fractions.
  s[a] = value
  s[a + 1] = value / 0x1_0000_0000
  s[a + 2] = 0
  s[a + 3] = 0
  s[a + 4] = 0
  s[a + 5] = 0
  s[a + 6] = 0
  s[a + 7] = 0
}

/** Sets a word to a number of 32 bits, signed or not. */
export function setSmall(s: Words, a: number, value: number): void {
  s[a] = value
  s[a + 1] = 0
  s[a + 2] = 0
  s[a + 3] = 0
  s[a + 4] = 0
  s[a + 5] = 0
  s[a + 6] = 0
  s[a + 7] = 0
}

/** Copies the word at `from` of one array to `to` of another, which may be the same. */
export function copyWord(source: Words, from: number, s: Words, to: number): void {
  s[to] = source[from]
  s[to + 1] = source[from + 1]
  s[to + 2] = source[from + 2]
  s[to + 3] = source[from + 3]
  s[to + 4] = source[from + 4]
  s[to + 5] = source[from + 5]
  s[to + 6] = source[from + 6]
  s[to + 7] = source[from + 7]
}

/** Exchanges two words. */
export function swapWords(s: Words, a: number, b: number): void {
  let x = s[a]
  s[a] = s[b]
  s[b] = x
  x = s[a + 1]
  s[a + 1] = s[b + 1]
  s[b + 1] = x
  x = s[a + 2]
  s[a + 2] = s[b + 2]
  s[b + 2] = x
  x = s[a + 3]
  s[a + 3] = s[b + 3]
  s[b + 3] = x
  x = s[a + 4]
  s[a + 4] = s[b + 4]
  s[b + 4] = x
  x = s[a + 5]
  s[a + 5] = s[b + 5]
  s[b + 5] = x
  x = s[a + 6]
  s[a + 6] = s[b + 6]
  s[b + 6] = x
  x = s[a + 7]
  s[a + 7] = s[b + 7]
  s[b + 7] = x
}

/** Whether the word is zero. */
export function isZeroWord(s: Words, a: number): boolean {
  return (s[a] | s[a + 1] | s[a + 2] | s[a + 3] | s[a + 4] | s[a + 5] | s[a + 6] | s[a + 7]) === 0
}

/** Whether two words, also of two arrays, are the same. */
export function sameWords(s: Words, a: number, t: Words, b: number): boolean {
  return (
    s[a] === t[b] &&
    s[a + 1] === t[b + 1] &&
    s[a + 2] === t[b + 2] &&
    s[a + 3] === t[b + 3] &&
    s[a + 4] === t[b + 4] &&
    s[a + 5] === t[b + 5] &&
    s[a + 6] === t[b + 6] &&
    s[a + 7] === t[b + 7]
  )
}

/** Number of limbs up to the highest nonzero one. */
export function usedLimbs(s: Words, a: number): number {
  let n = LIMBS
  while (n > 0 && s[a + n - 1] === 0) n--
  return n
}

/** Number of bytes up to the highest nonzero one. */
export function usedBytes(s: Words, a: number): number {
  const n = usedLimbs(s, a)
  return n === 0 ? 0 : n * 4 - (Math.clz32(s[a + n - 1]) >>> 3)
}

/** Reads a word of 32 big-endian bytes. */
export function loadWord(view: DataView, offset: number, s: Words, a: number): void {
  s[a + 7] = view.getInt32(offset)
  s[a + 6] = view.getInt32(offset + 4)
  s[a + 5] = view.getInt32(offset + 8)
  s[a + 4] = view.getInt32(offset + 12)
  s[a + 3] = view.getInt32(offset + 16)
  s[a + 2] = view.getInt32(offset + 20)
  s[a + 1] = view.getInt32(offset + 24)
  s[a] = view.getInt32(offset + 28)
}

/** Writes a word as 32 big-endian bytes. */
export function storeWord(view: DataView, offset: number, s: Words, a: number): void {
  view.setInt32(offset, s[a + 7])
  view.setInt32(offset + 4, s[a + 6])
  view.setInt32(offset + 8, s[a + 5])
  view.setInt32(offset + 12, s[a + 4])
  view.setInt32(offset + 16, s[a + 3])
  view.setInt32(offset + 20, s[a + 2])
  view.setInt32(offset + 24, s[a + 1])
  view.setInt32(offset + 28, s[a])
}

/** Sets a word to the big-endian integer of `length` (0 to 32) bytes from `from` on. */
export function setBytes(s: Words, a: number, bytes: Uint8Array, from: number, length: number): void {
  let at = a
  let end = from + length
  for (; end - from >= 4; end -= 4) {
    s[at++] = (bytes[end - 4] << 24) | (bytes[end - 3] << 16) | (bytes[end - 2] << 8) | bytes[end - 1]
  }
  if (end > from) {
    let limb = 0
    for (let i = from; i < end; i++) limb = (limb << 8) | bytes[i]
    s[at++] = limb
  }
  while (at < a + LIMBS) s[at++] = 0
}

/** Returns a longer array with the same beginning. */
export function enlarged(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const out = new Int32Array(length)
  out.set(array)
  return out
}

/** The word's last `length` bytes, big-endian, in a new array. */
export function wordToBytes(s: Words, a: number, length = 32): Uint8Array {
  const out = new Uint8Array(length)
  for (let i = 0; i < length; i++) out[length - 1 - i] = s[a + (i >>> 2)] >>> ((i & 3) << 3)
  return out
}

/** The word as an unsigned integer. */
export function wordToBigInt(s: Words, a: number): bigint {
  const small = toNumber(s, a)
  if (small !== Infinity) return BigInt(small)
  let value = 0n
  for (let i = usedLimbs(s, a) - 1; i >= 0; i--) value = (value << 32n) | BigInt(s[a + i] >>> 0)
  return value
}

/** Sets a word to an integer modulo 2^256; negative ones come in two's complement. */
export function setBigInt(s: Words, a: number, value: bigint): void {
  if (value >= 0n && value <= 0x1f_ffff_ffff_ffffn) {
    setNumber(s, a, Number(value))
    return
  }
  let rest = value
  for (let i = 0; i < LIMBS; i++) {
    s[a + i] = Number(BigInt.asIntN(32, rest))
    rest >>= 32n
  }
}
