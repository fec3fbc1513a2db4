import { negate } from './addition.js'
import {
  copyWord,
  isZeroWord,
  LIMBS,
  setNumber,
  setSmall,
  toNumber,
  usedBytes,
  usedLimbs,
  type Words,
} from './words.js'

// Products and quotients go over digits of 16 bits, least significant first, in doubles: a column of 16 products and
// its carry stay below 2^37, which a double holds exactly, and V8 needs no conversions. The arrays are scratch space:
// nothing in them outlives a call.
const DIGIT = 0x1_0000
const left = new Float64Array(40)
const right = new Float64Array(40)
const product = new Float64Array(80)

/** Reads the digits of a word into `digits`; returns their number without leading zeros. */
function readDigits(s: Words, a: number, digits: Float64Array): number {
  const limbs = usedLimbs(s, a)
  for (let i = 0; i < limbs; i++) {
    digits[2 * i] = s[a + i] & 0xffff
    digits[2 * i + 1] = s[a + i] >>> 16
  }
  return limbs > 0 && digits[2 * limbs - 1] === 0 ? 2 * limbs - 1 : 2 * limbs
}

/** Sets a word to the first `count` (at most 16) digits. */
function writeDigits(s: Words, a: number, digits: Float64Array, count: number): void {
  if (count < 16) digits.fill(0, count, 16)
  for (let i = 0; i < LIMBS; i++) s[a + i] = digits[2 * i] | (digits[2 * i + 1] << 16)
}

/** The digits of left × right, at most `limit` of them, in `product`; returns their number without leading zeros. */
function multiplyDigits(nLeft: number, nRight: number, limit: number): number {
  const count = Math.min(nLeft + nRight, limit)
  let carry = 0
  for (let k = 0; k < count; k++) {
    let sum = carry
    const last = k < nLeft ? k : nLeft - 1
    for (let i = k < nRight ? 0 : k - nRight + 1; i <= last; i++) sum += left[i] * right[k - i]
    carry = Math.floor(sum / DIGIT)
    product[k] = sum - carry * DIGIT
  }
  return trimDigits(product, count)
}

function trimDigits(digits: Float64Array, count: number): number {
  let n = count
  while (n > 0 && digits[n - 1] === 0) n--
  return n
}

/** b = a × b. */
export function multiply(s: Words, a: number, b: number): void {
  const high = s[a + 1] | s[a + 2] | s[a + 3] | s[a + 4] | s[a + 5] | s[a + 6] | s[a + 7]
  if (high === 0) {
    multiplyByLimb(s, b, s[a] >>> 0, b)
    return
  }
  const otherHigh = s[b + 1] | s[b + 2] | s[b + 3] | s[b + 4] | s[b + 5] | s[b + 6] | s[b + 7]
  if (otherHigh === 0) multiplyByLimb(s, a, s[b] >>> 0, b)
  else multiplyLarge(s, a, b)
}

/** Word at `to` = word at `a` × factor of 32 bits. */
function multiplyByLimb(s: Words, a: number, factor: number, to: number): void {
  // A limb times each half of the factor stays below 2^48, which a double holds exactly.
  const low = factor & 0xffff
  const high = factor >>> 16
  let carry = 0
  for (let i = 0; i < LIMBS; i++) {
    const limb = s[a + i] >>> 0
    if (limb === 0) {
      s[to + i] = carry
      carry = 0
      continue
    }
    const upper = limb * high
    const upperLow = upper & 0xffff
    const sum = limb * low + upperLow * DIGIT + carry
    s[to + i] = sum
    carry = (upper - upperLow) / DIGIT + Math.floor(sum / 0x1_0000_0000)
  }
}

function multiplyLarge(s: Words, a: number, b: number): void {
  const nLeft = readDigits(s, a, left)
  const nRight = readDigits(s, b, right)
  writeDigits(s, b, product, multiplyDigits(nLeft, nRight, 16))
}

/** Divides the `n` digits of `u` by the `m` digits of `v`, whose highest is not zero (Knuth, The Art of Computer
 *  Programming 2, 4.3.1, algorithm D). The quotient goes to `quotient`, n - m + 1 digits; the remainder stays in the
 *  first m digits of `u`, which has room for one more digit. Needs n >= m >= 2. */
function divideDigits(u: Float64Array, n: number, v: Float64Array, m: number): void {
  // Both are scaled so that the divisor's top digit is at least half of the base: quotient estimates are then at most 2
  // too large.
  const scale = Math.floor(DIGIT / (v[m - 1] + 1))
  scaleDigits(u, n, scale)
  if (scale !== 1) {
    scaleDigits(v, m, scale)
  }
  const top = v[m - 1]
  const second = v[m - 2]
  for (let j = n - m; j >= 0; j--) {
    const head = u[j + m] * DIGIT + u[j + m - 1]
    let guess = Math.floor(head / top)
    let rest = head - guess * top
    while (guess >= DIGIT || guess * second > rest * DIGIT + u[j + m - 2]) {
      guess--
      rest += top
      if (rest >= DIGIT) break
    }
    if (subtractScaled(u, j, v, m, guess)) {
      guess--
      addBack(u, j, v, m)
    }
    quotient[j] = guess
  }
  // The remainder is scaled back.
  let carry = 0
  for (let i = m - 1; i >= 0; i--) {
    const t = carry * DIGIT + u[i]
    u[i] = Math.floor(t / scale)
    carry = t - u[i] * scale
  }
}

const quotient = new Float64Array(80)

/** Multiplies digits in place; the digit after the last takes the carry. */
function scaleDigits(digits: Float64Array, count: number, scale: number): void {
  let carry = 0
  for (let i = 0; i < count; i++) {
    const t = digits[i] * scale + carry
    carry = Math.floor(t / DIGIT)
    digits[i] = t - carry * DIGIT
  }
  digits[count] = carry
}

/** u[j…] -= v × factor; true when that fell below zero. */
function subtractScaled(u: Float64Array, j: number, v: Float64Array, m: number, factor: number): boolean {
  let carry = 0
  for (let i = 0; i < m; i++) {
    const t = u[i + j] - factor * v[i] + carry
    carry = Math.floor(t / DIGIT)
    u[i + j] = t - carry * DIGIT
  }
  const t = u[j + m] + carry
  u[j + m] = t < 0 ? t + DIGIT : t
  return t < 0
}

function addBack(u: Float64Array, j: number, v: Float64Array, m: number): void {
  let carry = 0
  for (let i = 0; i < m; i++) {
    const t = u[i + j] + v[i] + carry
    carry = t >= DIGIT ? 1 : 0
    u[i + j] = t - carry * DIGIT
  }
  u[j + m] = (u[j + m] + carry) % DIGIT
}

/** Divides digits by a number of at most 32 bits: writes the quotient to `quotient`, returns the remainder. */
function divideBySmall(u: Float64Array, n: number, divisor: number): number {
  let rest = 0
  for (let i = n - 1; i >= 0; i--) {
    const t = rest * DIGIT + u[i] // below 2^48
    quotient[i] = Math.floor(t / divisor)
    rest = t - quotient[i] * divisor
  }
  return rest
}

/** b = a / b, rounded down; zero when b is zero. Leaves a as it is. */
export function divide(s: Words, a: number, b: number): void {
  const divisor = toNumber(s, b)
  const dividend = toNumber(s, a)
  if (dividend !== Infinity && divisor !== Infinity) {
    // Quotients of integers below 2^53 never round up to the next integer.
    setNumber(s, b, divisor === 0 ? 0 : Math.floor(dividend / divisor))
    return
  }
  if (divisor === 0) return
  const n = readDigits(s, a, left)
  if (divisor < 0x1_0000_0000) {
    divideBySmall(left, n, divisor)
    writeDigits(s, b, quotient, n)
    return
  }
  const m = readDigits(s, b, right)
  if (n < m) {
    setSmall(s, b, 0)
    return
  }
  divideDigits(left, n, right, m)
  writeDigits(s, b, quotient, n - m + 1)
}

/** b = a mod b; zero when b is zero. Leaves a as it is. */
export function modulo(s: Words, a: number, b: number): void {
  const divisor = toNumber(s, b)
  const dividend = toNumber(s, a)
  if (dividend !== Infinity && divisor !== Infinity) {
    setNumber(s, b, divisor === 0 ? 0 : dividend - Math.floor(dividend / divisor) * divisor)
    return
  }
  if (divisor === 0) return
  reduce(s, b, left, readDigits(s, a, left))
}

/** Sets the word at `at` to the `n` digits of `u` modulo itself; it is not zero. */
function reduce(s: Words, at: number, u: Float64Array, n: number): void {
  const divisor = toNumber(s, at)
  if (divisor < 0x1_0000_0000) {
    setNumber(s, at, divideBySmall(u, n, divisor))
    return
  }
  const m = readDigits(s, at, right)
  if (n >= m) {
    divideDigits(u, n, right, m)
    writeDigits(s, at, u, m)
  } else {
    writeDigits(s, at, u, n)
  }
}

/** b = a / b in two's complement, rounded towards zero; zero when b is zero. Changes a. */
export function divideSigned(s: Words, a: number, b: number): void {
  const negative = (s[a + 7] ^ s[b + 7]) < 0
  if (s[a + 7] < 0) negate(s, a)
  if (s[b + 7] < 0) negate(s, b)
  divide(s, a, b)
  if (negative) negate(s, b)
}

/** b = a mod b in two's complement, with the sign of a; zero when b is zero. Changes a. */
export function moduloSigned(s: Words, a: number, b: number): void {
  const negative = s[a + 7] < 0
  if (negative) negate(s, a)
  if (s[b + 7] < 0) negate(s, b)
  modulo(s, a, b)
  if (negative) negate(s, b)
}

/** c = (a + b) mod c, the sum not truncated; zero when c is zero. */
export function addModulo(s: Words, a: number, b: number, c: number): void {
  if (isZeroWord(s, c)) return
  let carry = 0
  for (let i = 0; i < LIMBS; i++) {
    const low = (s[a + i] & 0xffff) + (s[b + i] & 0xffff) + carry
    const high = (s[a + i] >>> 16) + (s[b + i] >>> 16) + (low >>> 16)
    left[2 * i] = low & 0xffff
    left[2 * i + 1] = high & 0xffff
    carry = high >>> 16
  }
  left[16] = carry
  reduce(s, c, left, trimDigits(left, 17))
}

/** c = (a × b) mod c, the product not truncated; zero when c is zero. */
export function multiplyModulo(s: Words, a: number, b: number, c: number): void {
  if (isZeroWord(s, c)) return
  const n = multiplyDigits(readDigits(s, a, left), readDigits(s, b, right), 32)
  reduce(s, c, product, n)
}

const power = new Int32Array(2 * LIMBS)

/** b = a to the power of b. */
export function exponentiate(s: Words, a: number, b: number): void {
  const bytes = usedBytes(s, b)
  setSmall(power, 0, 1)
  copyWord(s, a, power, LIMBS)
  let started = false
  for (let bit = bytes * 8 - 1; bit >= 0; bit--) {
    if (started) square(power, 0)
    if (((s[b + (bit >>> 5)] >>> (bit & 31)) & 1) !== 0) {
      multiply(power, LIMBS, 0)
      started = true
    }
  }
  copyWord(power, 0, s, b)
}

function square(s: Words, a: number): void {
  multiply(s, a, a)
}
