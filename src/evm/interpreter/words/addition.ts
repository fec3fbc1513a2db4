import { LIMBS, type Words } from './words.js'

/** b = a + b. */
export function add(s: Words, a: number, b: number): void {
  // The carry of a sum, in 32-bit integers only: set if both have the top bit, or one has it and the sum lacks it.
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
