import { bytesToBigInt } from '../../../lib/bytes.js'
import type { Deadline } from '../../../lib/deadline.js'
import type { Precompile } from './precompile.js'

/** Pricing of MODEXP and its length limit. */
export interface ModexpRules {
  /** EIP-198 before Berlin, EIP-2565, or EIP-7883 from Osaka on. */
  pricing: 198 | 2565 | 7883
  /** EIP-7823: bytes; infinite before Osaka. */
  maxLength: number
}

const HEADER = 96 // three lengths of 32 bytes

/** The precompile at 5: base ^ exponent mod modulus of numbers of any length (EIP-198, 2565, 7823, 7883). */
export function createModexp(rules: ModexpRules): Precompile {
  return {
    gas: (input) => modexpGas(input, rules),
    failure: () => 'one or more of base/exponent/modulus length exceeded 1024 bytes',
    run: (input, deadline) => {
      const [baseLength, exponentLength, modulusLength] = lengthsOf(input)
      if (Math.max(baseLength, exponentLength, modulusLength) > rules.maxLength) return undefined
      if (modulusLength === 0) return new Uint8Array(0)
      const out = new Uint8Array(modulusLength)
      const modulusAt = HEADER + baseLength + exponentLength
      const modulus = numberAt(input, modulusAt, modulusLength)
      if (modulus <= 1n) return out
      const base = numberAt(input, HEADER, baseLength)
      const exponent = numberAt(input, HEADER + baseLength, exponentLength)
      const result = Buffer.from(
        power(base, exponent, modulus, deadline)
          .toString(16)
          .padStart(2 * modulusLength, '0'),
        'hex',
      )
      out.set(result)
      return out
    },
  }
}

/** The three lengths. Lengths beyond 2^53 - 1 are clamped to it: no gas suffices for them, unless they are
 *  irrelevant. */
function lengthsOf(input: Uint8Array): [number, number, number] {
  const lengthAt = (at: number) => {
    const length = numberAt(input, at, 32)
    return length > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(length)
  }
  return [lengthAt(0), lengthAt(32), lengthAt(64)]
}

/** The big-endian number of `length` bytes at `at`; bytes beyond the input are zero. */
function numberAt(input: Uint8Array, at: number, length: number): bigint {
  const there = input.subarray(Math.min(at, input.length), Math.min(at + length, input.length))
  const value = bytesToBigInt(there)
  return value === 0n ? 0n : value << BigInt(8 * (length - there.length))
}

/** Left to right, four bits of the exponent at a time. The modulus is above 1. */
function power(base: bigint, exponent: bigint, modulus: bigint, deadline: Deadline): bigint {
  const powers = [1n]
  const reduced = base % modulus
  for (let i = 1; i < 16; i++) powers.push((powers[i - 1] * reduced) % modulus)
  let result = 1n
  const digits = exponent.toString(16)
  for (let at = 0; at < digits.length; at++) {
    // Squaring the largest numbers takes much longer than a deadline check.
    if (at % 64 === 63) deadline.check()
    for (let i = 0; i < 4; i++) result = (result * result) % modulus
    result = (result * powers[Number.parseInt(digits[at], 16)]) % modulus
  }
  return result
}

function modexpGas(input: Uint8Array, { pricing }: ModexpRules): number {
  const [baseLength, exponentLength, modulusLength] = lengthsOf(input)
  const longest = Math.max(baseLength, modulusLength)
  const headLength = Math.min(exponentLength, 32)
  const head = numberAt(input, HEADER + baseLength, headLength)
  const headBits = head === 0n ? 0 : head.toString(2).length - 1
  const perByte = pricing === 7883 ? 16 : 8
  const beyond = exponentLength > 32 ? perByte * (exponentLength - 32) : 0
  const iterations = Math.max(beyond + headBits, 1)
  if (pricing === 198) return Math.floor((oldComplexity(longest) * iterations) / 20)
  const words = Math.ceil(longest / 8)
  if (pricing === 2565) return Math.max(200, Math.floor((words * words * iterations) / 3))
  return Math.max(500, (longest > 32 ? 2 * words * words : 16) * iterations)
}

/** EIP-198, mult_complexity. */
function oldComplexity(length: number): number {
  if (length <= 64) return length * length
  if (length <= 1024) return Math.floor((length * length) / 4) + 96 * length - 3072
  return Math.floor((length * length) / 16) + 480 * length - 199_680
}
