/** 256-bit words in a typed array: each is 8 limbs of 32 bits, the least significant first, at a position that is the index
 *  of its first limb. Operations take the array and two positions: the operand that was on top of the stack, `a`, and the
 *  one below it, `b`, where the result is left. All arithmetic is modulo 2^256 (Yellow Paper, appendix H). */
export type Words = Int32Array

/** Limbs of one word. */
export const LIMBS = 8

/** Given by `toIndex` for every word of 2^32 and above: no offset, length or jump target can be as large. */
export const TOO_LARGE = 2 ** 40

/** The word as a number when it is below 2^32, otherwise `TOO_LARGE`. */
export function toIndex(s: Words, a: number): number {
  if ((s[a + 1] | s[a + 2] | s[a + 3] | s[a + 4] | s[a + 5] | s[a + 6] | s[a + 7]) !== 0) return TOO_LARGE
  return s[a] >>> 0
}

/** The word as a number when it is at most 2^53 - 1, otherwise infinity. */
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

/** b = a + b. */
export function add(s: Words, a: number, b: number): void {
  // The carry out of a sum of 32-bit integers, without leaving them: set where both have the top bit, or one has it and
  // the sum has lost it.
  let x = s[a]
  let y = s[b]
  let t = (x + y) | 0
  s[b] = t
  let carry = ((x & y) | ((x | y) & ~t)) >>> 31
  x = s[a + 1]
  y = s[b + 1]
  t = (x + y + carry) | 0
  s[b + 1] = t
  carry = ((x & y) | ((x | y) & ~t)) >>> 31
  x = s[a + 2]
  y = s[b + 2]
  t = (x + y + carry) | 0
  s[b + 2] = t
  carry = ((x & y) | ((x | y) & ~t)) >>> 31
  x = s[a + 3]
  y = s[b + 3]
  t = (x + y + carry) | 0
  s[b + 3] = t
  carry = ((x & y) | ((x | y) & ~t)) >>> 31
  x = s[a + 4]
  y = s[b + 4]
  t = (x + y + carry) | 0
  s[b + 4] = t
  carry = ((x & y) | ((x | y) & ~t)) >>> 31
  x = s[a + 5]
  y = s[b + 5]
  t = (x + y + carry) | 0
  s[b + 5] = t
  carry = ((x & y) | ((x | y) & ~t)) >>> 31
  x = s[a + 6]
  y = s[b + 6]
  t = (x + y + carry) | 0
  s[b + 6] = t
  carry = ((x & y) | ((x | y) & ~t)) >>> 31
  s[b + 7] = s[a + 7] + s[b + 7] + carry
}

/** b = a - b. */
export function sub(s: Words, a: number, b: number): void {
  let x = s[a]
  let y = s[b]
  let t = (x - y) | 0
  s[b] = t
  let borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  x = s[a + 1]
  y = s[b + 1]
  t = (x - y - borrow) | 0
  s[b + 1] = t
  borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  x = s[a + 2]
  y = s[b + 2]
  t = (x - y - borrow) | 0
  s[b + 2] = t
  borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  x = s[a + 3]
  y = s[b + 3]
  t = (x - y - borrow) | 0
  s[b + 3] = t
  borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  x = s[a + 4]
  y = s[b + 4]
  t = (x - y - borrow) | 0
  s[b + 4] = t
  borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  x = s[a + 5]
  y = s[b + 5]
  t = (x - y - borrow) | 0
  s[b + 5] = t
  borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  x = s[a + 6]
  y = s[b + 6]
  t = (x - y - borrow) | 0
  s[b + 6] = t
  borrow = ((~x & y) | ((~x | y) & t)) >>> 31
  s[b + 7] = s[a + 7] - s[b + 7] - borrow
}

/** a = -a. */
export function negate(s: Words, a: number): void {
  let carry = 1
  for (let i = 0; i < LIMBS; i++) {
    const t = (~s[a + i] + carry) | 0
    s[a + i] = t
    carry = carry === 1 && t === 0 ? 1 : 0
  }
}

/** Whether a < b, both unsigned. */
export function isLess(s: Words, a: number, b: number): boolean {
  if (s[a + 7] !== s[b + 7]) return s[a + 7] >>> 0 < s[b + 7] >>> 0
  if (s[a + 6] !== s[b + 6]) return s[a + 6] >>> 0 < s[b + 6] >>> 0
  if (s[a + 5] !== s[b + 5]) return s[a + 5] >>> 0 < s[b + 5] >>> 0
  if (s[a + 4] !== s[b + 4]) return s[a + 4] >>> 0 < s[b + 4] >>> 0
  if (s[a + 3] !== s[b + 3]) return s[a + 3] >>> 0 < s[b + 3] >>> 0
  if (s[a + 2] !== s[b + 2]) return s[a + 2] >>> 0 < s[b + 2] >>> 0
  if (s[a + 1] !== s[b + 1]) return s[a + 1] >>> 0 < s[b + 1] >>> 0
  return s[a] >>> 0 < s[b] >>> 0
}

/** Whether a < b, both in two's complement. */
export function isLessSigned(s: Words, a: number, b: number): boolean {
  const x = s[a + 7]
  const y = s[b + 7]
  return x !== y ? x < y : isLess(s, a, b)
}

/** b = a and b. */
export function and(s: Words, a: number, b: number): void {
  s[b] &= s[a]
  s[b + 1] &= s[a + 1]
  s[b + 2] &= s[a + 2]
  s[b + 3] &= s[a + 3]
  s[b + 4] &= s[a + 4]
  s[b + 5] &= s[a + 5]
  s[b + 6] &= s[a + 6]
  s[b + 7] &= s[a + 7]
}

/** b = a or b. */
export function or(s: Words, a: number, b: number): void {
  s[b] |= s[a]
  s[b + 1] |= s[a + 1]
  s[b + 2] |= s[a + 2]
  s[b + 3] |= s[a + 3]
  s[b + 4] |= s[a + 4]
  s[b + 5] |= s[a + 5]
  s[b + 6] |= s[a + 6]
  s[b + 7] |= s[a + 7]
}

/** b = a xor b. */
export function xor(s: Words, a: number, b: number): void {
  for (let i = 0; i < LIMBS; i++) s[b + i] ^= s[a + i]
}

/** a = not a. */
export function not(s: Words, a: number): void {
  s[a] = ~s[a]
  s[a + 1] = ~s[a + 1]
  s[a + 2] = ~s[a + 2]
  s[a + 3] = ~s[a + 3]
  s[a + 4] = ~s[a + 4]
  s[a + 5] = ~s[a + 5]
  s[a + 6] = ~s[a + 6]
  s[a + 7] = ~s[a + 7]
}

/** b = b << a (EIP-145). */
export function shiftLeft(s: Words, a: number, b: number): void {
  const shift = toIndex(s, a)
  if (shift >= 256) {
    setSmall(s, b, 0)
    return
  }
  const limbs = shift >>> 5
  const bits = shift & 31
  for (let i = LIMBS - 1; i >= 0; i--) {
    const high = i >= limbs ? s[b + i - limbs] : 0
    const low = bits !== 0 && i > limbs ? s[b + i - limbs - 1] >>> (32 - bits) : 0
    s[b + i] = (high << bits) | low
  }
}

/** b = b >> a, filling up with zeros (EIP-145). */
export function shiftRight(s: Words, a: number, b: number): void {
  shiftDown(s, toIndex(s, a), b, 0)
}

/** b = b >> a, filling up with the sign (EIP-145). */
export function shiftRightSigned(s: Words, a: number, b: number): void {
  shiftDown(s, toIndex(s, a), b, s[b + 7] >> 31)
}

function shiftDown(s: Words, shift: number, b: number, fill: number): void {
  if (shift >= 256) {
    for (let i = 0; i < LIMBS; i++) s[b + i] = fill
    return
  }
  const limbs = shift >>> 5
  const bits = shift & 31
  for (let i = 0; i < LIMBS; i++) {
    const at = i + limbs
    const low = at < LIMBS ? s[b + at] : fill
    const high = at + 1 < LIMBS ? s[b + at + 1] : fill
    s[b + i] = bits === 0 ? low : (low >>> bits) | (high << (32 - bits))
  }
}

/** b = the byte of b at index a, counted from the most significant one. */
export function byteAt(s: Words, a: number, b: number): void {
  const index = toIndex(s, a)
  setSmall(s, b, index >= 32 ? 0 : (s[b + ((31 - index) >>> 2)] >>> (((31 - index) & 3) << 3)) & 0xff)
}

/** b = b with the sign of its byte a, counted from the least significant one, carried on upwards. */
export function signExtend(s: Words, a: number, b: number): void {
  const index = toIndex(s, a)
  if (index >= 31) return
  const limb = index >>> 2
  const unused = 24 - ((index & 3) << 3)
  const value = (s[b + limb] << unused) >> unused
  s[b + limb] = value
  for (let i = limb + 1; i < LIMBS; i++) s[b + i] = value >> 31
}

/** a = how many of the leading bits of a are zero (EIP-7939). */
export function countLeadingZeros(s: Words, a: number): void {
  let count = 0
  for (let i = LIMBS - 1; i >= 0; i--) {
    count += Math.clz32(s[a + i])
    if (s[a + i] !== 0) break
  }
  setSmall(s, a, count)
}

/** Limbs up to the highest one that is not zero. */
export function usedLimbs(s: Words, a: number): number {
  let n = LIMBS
  while (n > 0 && s[a + n - 1] === 0) n--
  return n
}

/** Bytes up to the highest one that is not zero. */
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
