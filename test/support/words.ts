import { seededRandom } from './random.js'

export const MODULUS = 2n ** 256n

/** The integer that a word is in two's complement. */
export const signed = (value: bigint) => BigInt.asIntN(256, value)
export const unsigned = (value: bigint) => BigInt.asUintN(256, value)

/** A power modulo 2^256, by squares. */
export const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  let square = base
  for (let e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = unsigned(result * square)
    square = unsigned(square * square)
  }
  return result
}

/** Words at which something changes: limbs, signs, what a double holds. */
export const EDGES = [
  ...[0n, 1n, 2n, 3n, 31n, 32n, 255n, 256n, 257n, 0x7fffn, 0x8000n, 0xffffn, 0x1_0000n],
  ...[2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 48n - 1n],
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 64n + 1n, 2n ** 127n],
  ...[2n ** 128n - 1n, 2n ** 128n, 2n ** 192n - 2n ** 64n, 2n ** 192n, 2n ** 255n - 1n, 2n ** 255n],
  ...[2n ** 255n + 1n, MODULUS - 2n ** 128n, MODULUS - 2n ** 32n, MODULUS - 2n, MODULUS - 1n],
]

/** Makes words of any size, often with runs of equal bits, where carries and guesses of digits go wrong. */
export function createRandomWords(seed: number): { word(): bigint; below(limit: number): number } {
  const random = seededRandom(seed)
  const digitsOf = (bits: number, count: number, patterns: readonly bigint[]): bigint => {
    let value = 0n
    for (let i = 0; i < count; i++) {
      const digit =
        random.below(3) > 0
          ? patterns[random.below(patterns.length)]
          : BigInt(random.below(0x1_0000)) * BigInt(random.below(0x1_0000))
      value = (value << BigInt(bits)) | BigInt.asUintN(bits, digit)
    }
    return value
  }
  const patterns = (bits: number) => {
    const all = 2n ** BigInt(bits) - 1n
    return [0n, all, all - 1n, 1n, 2n ** BigInt(bits - 1), 2n ** BigInt(bits - 1) - 1n, 2n ** BigInt(bits - 1) + 1n]
  }
  const [patterns16, patterns32, patterns64] = [16, 32, 64].map(patterns)
  const word = (): bigint => {
    switch (random.below(8)) {
      case 0:
        return EDGES[random.below(EDGES.length)]
      case 1:
        return digitsOf(16, 1 + random.below(16), patterns16)
      case 2:
        return digitsOf(32, 1 + random.below(8), patterns32)
      case 3:
        return digitsOf(64, 1 + random.below(4), patterns64)
      case 4:
        return unsigned(2n ** BigInt(random.below(256)) + BigInt(random.below(3)) - 1n)
      case 5:
        return unsigned(-digitsOf(32, 1 + random.below(8), patterns32))
      default: {
        let value = 0n
        const limbs = 1 + random.below(16)
        for (let i = 0; i < limbs; i++) value = (value << 16n) | BigInt(random.below(0x1_0000))
        return value
      }
    }
  }
  return { word, below: (limit) => random.below(limit) }
}
