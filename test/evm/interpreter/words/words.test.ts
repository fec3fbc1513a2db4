import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as addition from '../../../../src/evm/interpreter/words/addition.js'
import * as bits from '../../../../src/evm/interpreter/words/bits.js'
import {
  addModulo,
  divide,
  divideSigned,
  exponentiate,
  modulo,
  moduloSigned,
  multiply,
  multiplyModulo,
} from '../../../../src/evm/interpreter/words/multiply.js'
import * as plainWords from '../../../../src/evm/interpreter/words/words.js'
import { createRandomWords, EDGES, MODULUS, power, signed, unsigned } from '../../../support/words.js'

const words = { ...plainWords, ...addition, ...bits }
const { wordToBigInt, setBigInt } = words

const random = createRandomWords(20_240_611)
const randomWord = () => random.word()

type Operation = (s: Int32Array, a: number, b: number) => void

/** Compares an operation on two words with the oracle, for all pairs of edges and for random words. */
function compare(operation: Operation, oracle: (a: bigint, b: bigint) => bigint, rounds = 20_000): void {
  const check = (a: bigint, b: bigint) => {
    const s = new Int32Array(24).fill(-1)
    setBigInt(s, 8, b)
    setBigInt(s, 16, a)
    operation(s, 16, 8)
    const expected = unsigned(oracle(a, b))
    if (wordToBigInt(s, 8) !== expected) {
      assert.fail(`a 0x${a.toString(16)}, b 0x${b.toString(16)}: 0x${wordToBigInt(s, 8).toString(16)} is wrong`)
    }
    assert.equal(s[7], -1, 'wrote below the word')
  }
  for (const a of EDGES) for (const b of EDGES) check(a, b)
  for (let i = 0; i < rounds; i++) check(randomWord(), randomWord())
}

const flag = (operation: (s: Int32Array, a: number, b: number) => boolean): Operation => {
  return (s, a, b) => words.setSmall(s, b, operation(s, a, b) ? 1 : 0)
}

test('adds and subtracts modulo 2^256', () => {
  compare(words.add, (a, b) => a + b)
  compare(words.sub, (a, b) => a - b)
  compare(
    (s, _a, b) => words.negate(s, b),
    (_a, b) => -b,
    1000,
  )
})

test('compares with and without sign', () => {
  compare(flag(words.isLess), (a, b) => (a < b ? 1n : 0n))
  compare(flag(words.isLessSigned), (a, b) => (signed(a) < signed(b) ? 1n : 0n))
  compare(
    flag((s, a, b) => words.sameWords(s, a, s, b)),
    (a, b) => (a === b ? 1n : 0n),
  )
  compare(
    flag((s, _a, b) => words.isZeroWord(s, b)),
    (_a, b) => (b === 0n ? 1n : 0n),
    1000,
  )
})

test('combines bits', () => {
  compare(words.and, (a, b) => a & b, 2000)
  compare(words.or, (a, b) => a | b, 2000)
  compare(words.xor, (a, b) => a ^ b, 2000)
  compare(
    (s, _a, b) => words.not(s, b),
    (_a, b) => ~b,
    2000,
  )
})

test('shifts by any word', () => {
  const right = (value: bigint, by: bigint) => (by < 256n ? value >> by : value < 0n ? -1n : 0n)
  const small = (operation: Operation): Operation => {
    // Random words are nearly never below 256: the low byte alone.
    return (s, a, b) => {
      words.setSmall(s, a, s[a] & 0x1ff)
      operation(s, a, b)
    }
  }
  compare(words.shiftLeft, (a, b) => (a < 256n ? b << a : 0n))
  compare(small(words.shiftLeft), (a, b) => ((a & 0x1ffn) < 256n ? b << (a & 0x1ffn) : 0n))
  compare(words.shiftRight, (a, b) => right(b, a))
  compare(small(words.shiftRight), (a, b) => right(b, a & 0x1ffn))
  compare(words.shiftRightSigned, (a, b) => right(signed(b), a))
  compare(small(words.shiftRightSigned), (a, b) => right(signed(b), a & 0x1ffn))
})

test('takes single bytes and extends signs', () => {
  const masked = (operation: Operation): Operation => {
    return (s, a, b) => {
      words.setSmall(s, a, s[a] & 0x3f)
      operation(s, a, b)
    }
  }
  const byteAt = (a: bigint, b: bigint) => (a < 32n ? (b >> (8n * (31n - a))) & 0xffn : 0n)
  compare(words.byteAt, byteAt)
  compare(masked(words.byteAt), (a, b) => byteAt(a & 0x3fn, b))
  const extend = (a: bigint, b: bigint) => (a < 31n ? BigInt.asIntN(8 * (Number(a) + 1), b) : b)
  compare(words.signExtend, extend)
  compare(masked(words.signExtend), (a, b) => extend(a & 0x3fn, b))
})

test('counts leading zeros and used bytes', () => {
  compare(
    (s, _a, b) => words.countLeadingZeros(s, b),
    (_a, b) => BigInt(b === 0n ? 256 : 256 - b.toString(2).length),
    2000,
  )
  compare(
    (s, _a, b) => words.setSmall(s, b, words.usedBytes(s, b)),
    (_a, b) => BigInt(b === 0n ? 0 : Math.ceil(b.toString(16).length / 2)),
    2000,
  )
})

test('multiplies', () => {
  compare(multiply, (a, b) => a * b)
})

test('divides with and without sign, and by zero', () => {
  compare(divide, (a, b) => (b === 0n ? 0n : a / b), 60_000)
  compare(modulo, (a, b) => (b === 0n ? 0n : a % b), 60_000)
  compare(divideSigned, (a, b) => (b === 0n ? 0n : signed(a) / signed(b)))
  compare(moduloSigned, (a, b) => (b === 0n ? 0n : signed(a) % signed(b)))
})

test('divides where the guess of a digit is too large and is corrected', () => {
  // Quotients whose digits are all at their limit, times the divisor, and one less.
  const check = (a: bigint, b: bigint) => {
    const s = new Int32Array(16)
    setBigInt(s, 0, b)
    setBigInt(s, 8, a)
    divide(s, 8, 0)
    assert.equal(wordToBigInt(s, 0), a / b, `0x${a.toString(16)} / 0x${b.toString(16)}`)
    setBigInt(s, 0, b)
    setBigInt(s, 8, a)
    modulo(s, 8, 0)
    assert.equal(wordToBigInt(s, 0), a % b, `0x${a.toString(16)} mod 0x${b.toString(16)}`)
  }
  for (let bits = 33; bits <= 256; bits++) {
    for (const divisor of [2n ** BigInt(bits - 1), 2n ** BigInt(bits) - 1n, 2n ** BigInt(bits - 1) + 1n]) {
      for (const quotient of [1n, 0xffffn, 0x1_0000n, 0xffff_ffffn, 2n ** 128n - 1n, 0xffff_0000_ffffn]) {
        for (const change of [-1n, 0n, 1n]) {
          const dividend = divisor * quotient + change
          if (dividend < MODULUS) check(dividend, divisor)
        }
      }
    }
  }
})

test('adds and multiplies modulo a third word without cutting off', () => {
  for (let i = 0; i < 40_000; i++) {
    const [a, b, c] =
      i < EDGES.length ** 2
        ? [EDGES[i % EDGES.length], EDGES[(i / EDGES.length) | 0], randomWord()]
        : [randomWord(), randomWord(), randomWord()]
    const s = new Int32Array(24)
    setBigInt(s, 0, c)
    setBigInt(s, 8, b)
    setBigInt(s, 16, a)
    addModulo(s, 16, 8, 0)
    assert.equal(wordToBigInt(s, 0), c === 0n ? 0n : (a + b) % c, `(${a} + ${b}) mod ${c}`)
    setBigInt(s, 0, c)
    multiplyModulo(s, 16, 8, 0)
    assert.equal(wordToBigInt(s, 0), c === 0n ? 0n : (a * b) % c, `${a} × ${b} mod ${c}`)
  }
})

test('raises to powers modulo 2^256', () => {
  compare(exponentiate, power, 300)
})

test('reads and writes big-endian bytes and numbers', () => {
  const bytes = new Uint8Array(40)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < 2000; i++) {
    const value = randomWord()
    const s = new Int32Array(16)
    setBigInt(s, 8, value)
    words.storeWord(view, 3, s, 8)
    assert.equal(BigInt(`0x${Buffer.from(bytes.subarray(3, 35)).toString('hex')}`), value)
    words.loadWord(view, 3, s, 0)
    assert.ok(words.sameWords(s, 0, s, 8))
    const length = random.below(33)
    words.setBytes(s, 0, bytes, 35 - length, length)
    assert.equal(wordToBigInt(s, 0), value % 2n ** BigInt(8 * length))
    assert.deepEqual(words.wordToBytes(s, 8), bytes.slice(3, 35))
    const number = words.toNumber(s, 8)
    assert.equal(number, value < 2n ** 53n ? Number(value) : Infinity)
    if (number !== Infinity) {
      words.setNumber(s, 0, number)
      assert.equal(wordToBigInt(s, 0), value)
    }
    assert.equal(words.toIndex(s, 8), value < 2n ** 32n ? Number(value) : words.TOO_LARGE)
  }
})
