import { LIMBS, setSmall, toIndex, type Words } from './words.js'

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
