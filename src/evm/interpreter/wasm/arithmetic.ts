import {
  type Code,
  call,
  type FunctionCode,
  FunctionWriter,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  RETURN,
  set,
} from '../../../wasm/assembler.js'
import { writeDivideDigits } from './division.js'
import { DIVIDEND, DIVISOR, FACTOR, POWER, QUOTIENT } from './layout.js'

/* Word arithmetic as WebAssembly functions. Arguments are addresses of words; the result replaces the last operand.
 * Same results as `words/multiply` and `words/bits`. */

const { add, sub, multiply, and, or, xor, left, right, isLess } = i64s

/** Function indexes in the module, in the order of `arithmeticFunctions`. */
export const CALLS = {
  multiply: 0,
  divideDigits: 1,
  divide: 2,
  modulo: 3,
  divideSigned: 4,
  moduloSigned: 5,
  addModulo: 6,
  multiplyModulo: 7,
  power: 8,
  negate: 9,
  /** Follow them. */
  keccak: 10,
  extendMemory: 11,
} as const

/** The first functions of the module. */
export function arithmeticFunctions(): FunctionCode[] {
  return [
    writeMultiply(),
    writeDivideDigits(),
    writeDivide(QUOTIENT),
    writeDivide(DIVIDEND),
    writeSigned(CALLS.divide),
    writeSigned(CALLS.modulo),
    writeAddModulo(),
    writeMultiplyModulo(),
    writePower(),
    writeNegate(),
  ]
}

/** Limb `i`, of 64 bits, of the word at an address in a local. */
const limb = (address: number, i: number): Code => i64s.load(get(address), 8 * i)
const anyOf = (...limbs: readonly Code[]): Code => limbs.reduce((x, y) => or(x, y))
/** True if the word is zero. */
const isZero = (address: number): Code => i64s.isZero(anyOf(...[0, 1, 2, 3].map((i) => limb(address, i))))

/** Locals for products of 64 by 64 bits. */
interface Product {
  low: number
  high: number
  scratch: number[]
}

function declareProduct(f: FunctionWriter): Product {
  return { low: f.local(I64), high: f.local(I64), scratch: f.locals(I64, 6) }
}

const LOW_HALF = i64(0xffff_ffffn)
const HALF = i64(32n)

/** Sets low and high to x × y, both in locals, from products of halves. */
function writeProduct(f: FunctionWriter, { low, high, scratch }: Product, x: number, y: number): void {
  const [xLow, xHigh, yLow, yHigh, middle, other] = scratch
  f.put(
    set(xLow, and(get(x), LOW_HALF)),
    set(xHigh, right(get(x), HALF)),
    set(yLow, and(get(y), LOW_HALF)),
    set(yHigh, right(get(y), HALF)),
    // Neither sum exceeds 64 bits: (2^32 - 1)² + 2 (2^32 - 1) = 2^64 - 1.
    set(low, multiply(get(xLow), get(yLow))),
    set(middle, add(multiply(get(xHigh), get(yLow)), right(get(low), HALF))),
    set(other, add(multiply(get(xLow), get(yHigh)), and(get(middle), LOW_HALF))),
    set(high, add(add(multiply(get(xHigh), get(yHigh)), right(get(middle), HALF)), right(get(other), HALF))),
    set(low, or(left(get(other), HALF), and(get(low), LOW_HALF))),
  )
}

/** sum += addend; the carry is added to `carry`. */
function writeAddTo(f: FunctionWriter, sum: number, addend: number, carry: number): void {
  f.put(set(sum, add(get(sum), get(addend))), set(carry, add(get(carry), i64s.of(isLess(get(sum), get(addend))))))
}

/** b = a × b. */
function writeMultiply(): FunctionCode {
  const f = new FunctionWriter([I32, I32])
  const [a, b] = [0, 1]
  const x = f.locals(I64, 4)
  const y = f.locals(I64, 4)
  const result = f.locals(I64, 4)
  const carry = f.local(I64)
  const product = declareProduct(f)
  for (let i = 0; i < 4; i++) f.put(set(x[i], limb(a, i)), set(y[i], limb(b, i)))
  // Rows for zero limbs of x are skipped, so x should be the smaller operand.
  f.when(i64s.isZero(anyOf(get(y[1]), get(y[2]), get(y[3]))), () => {
    for (let i = 0; i < 4; i++) f.put(get(x[i]), set(x[i], get(y[i])), [0x21, y[i]])
  })
  for (let i = 0; i < 4; i++) {
    f.when(i32s.isZero(i64s.isZero(get(x[i]))), () => {
      f.put(set(carry, i64(0n)))
      for (let j = 0; i + j < 3; j++) {
        writeProduct(f, product, x[i], y[j])
        if (i > 0) writeAddTo(f, product.low, result[i + j], product.high)
        if (j > 0) writeAddTo(f, product.low, carry, product.high)
        f.put(set(result[i + j], get(product.low)), set(carry, get(product.high)))
      }
      const last = multiply(get(x[i]), get(y[3 - i]))
      f.put(set(result[3], add(add(get(result[3]), last), get(carry))))
    })
  }
  for (let i = 0; i < 4; i++) f.put(i64s.store(get(b), 8 * i, get(result[i])))
  return f.end()
}

function writeCopy(f: FunctionWriter, address: number, to: number): void {
  for (let i = 0; i < 4; i++) f.put(i64s.store(i32(to), 8 * i, limb(address, i)))
}

/** b = a / b or b = a mod b: `from` is where the division leaves the result; zero if b is zero. */
function writeDivide(from: typeof QUOTIENT | typeof DIVIDEND): FunctionCode {
  const f = new FunctionWriter([I32, I32])
  const [a, b] = [0, 1]
  const [divisor, high] = f.locals(I64, 2)
  f.put(set(divisor, limb(b, 0)), set(high, anyOf(limb(b, 1), limb(b, 2), limb(b, 3))))
  f.when(i64s.isZero(get(high)), () => {
    f.when(i64s.isZero(get(divisor)), () => f.put(RETURN))
    f.when(i64s.isZero(anyOf(limb(a, 1), limb(a, 2), limb(a, 3))), () => {
      const divide = from === QUOTIENT ? i64s.divide : i64s.remainder
      f.put(i64s.store(get(b), 0, divide(limb(a, 0), get(divisor))), RETURN)
    })
  })
  writeCopy(f, a, DIVIDEND)
  writeCopy(f, b, DIVISOR)
  f.put(i64s.store(i32(DIVIDEND), 32, i64(0n)), call(CALLS.divideDigits, i32(8)))
  for (let i = 0; i < 4; i++) f.put(i64s.store(get(b), 8 * i, i64s.load(i32(from), 8 * i)))
  return f.end()
}

/** The same in two's complement: quotients round towards zero, remainders have the sign of a. Changes a. */
function writeSigned(unsignedCall: typeof CALLS.divide | typeof CALLS.modulo): FunctionCode {
  const f = new FunctionWriter([I32, I32])
  const [a, b] = [0, 1]
  const sign = f.local(I64)
  const negateWhen = (value: Code, address: number) =>
    f.when(i64s.isLessSigned(value, i64(0n)), () => f.put(call(CALLS.negate, get(address))))
  f.put(set(sign, unsignedCall === CALLS.divide ? xor(limb(a, 3), limb(b, 3)) : limb(a, 3)))
  negateWhen(limb(a, 3), a)
  negateWhen(limb(b, 3), b)
  f.put(call(unsignedCall, get(a), get(b)))
  negateWhen(get(sign), b)
  return f.end()
}

/** a = -a. */
function writeNegate(): FunctionCode {
  const f = new FunctionWriter([I32])
  const [carry, t] = f.locals(I64, 2)
  f.put(set(carry, i64(1n)))
  for (let i = 0; i < 4; i++) {
    f.put(
      set(t, add(xor(limb(0, i), i64(-1n)), get(carry))),
      set(carry, i64s.of(i32s.and(i32s.low(get(carry)), i64s.isZero(get(t))))),
      i64s.store(get(0), 8 * i, get(t)),
    )
  }
  return f.end()
}

/** Sets `borrow` to 1 if x < y, both in locals, otherwise to 0. */
function writeIsLess(f: FunctionWriter, x: readonly number[], y: readonly number[], borrow: number): void {
  f.put(set(borrow, isLess(get(x[0]), get(y[0]))))
  for (let i = 1; i < 4; i++) {
    const same = i32s.and(i64s.equal(get(x[i]), get(y[i])), get(borrow))
    f.put(set(borrow, i32s.or(isLess(get(x[i]), get(y[i])), same)))
  }
}

/** c = (a + b) mod c with a full-width sum; zero if c is zero. */
function writeAddModulo(): FunctionCode {
  const f = new FunctionWriter([I32, I32, I32])
  const [a, b, c] = [0, 1, 2]
  const x = f.locals(I64, 4)
  const y = f.locals(I64, 4)
  const z = f.locals(I64, 4)
  const [carry, t] = f.locals(I64, 2)
  const [aLess, bLess] = f.locals(I32, 2)
  for (let i = 0; i < 4; i++) f.put(set(x[i], limb(a, i)), set(y[i], limb(b, i)), set(z[i], limb(c, i)))
  f.when(i64s.isZero(anyOf(...z.map(get))), () => f.put(RETURN))
  writeIsLess(f, x, z, aLess)
  writeIsLess(f, y, z, bLess)
  for (let i = 0; i < 4; i++) {
    // x = x + y + carry
    f.put(
      set(t, add(get(x[i]), get(y[i]))),
      set(x[i], add(get(t), get(carry))),
      set(carry, i64s.of(i32s.or(isLess(get(t), get(y[i])), isLess(get(x[i]), get(t))))),
    )
  }
  f.when(
    i32s.and(get(aLess), get(bLess)),
    () => {
      // The sum is below 2c: subtract c at most once.
      writeIsLess(f, x, z, aLess)
      f.when(i32s.or(i32s.low(get(carry)), i32s.isZero(get(aLess))), () => {
        f.put(set(carry, i64(0n)))
        for (let i = 0; i < 4; i++) {
          f.put(
            set(t, sub(get(x[i]), get(z[i]))),
            set(y[i], sub(get(t), get(carry))),
            set(carry, i64s.of(i32s.or(isLess(get(x[i]), get(z[i])), isLess(get(t), get(carry))))),
            set(x[i], get(y[i])),
          )
        }
      })
      for (let i = 0; i < 4; i++) f.put(i64s.store(get(c), 8 * i, get(x[i])))
    },
    () => {
      for (let i = 0; i < 4; i++) f.put(i64s.store(i32(DIVIDEND), 8 * i, get(x[i])))
      f.put(i64s.store(i32(DIVIDEND), 32, get(carry)), i64s.store(i32(DIVIDEND), 40, i64(0n)))
      writeCopy(f, c, DIVISOR)
      f.put(call(CALLS.divideDigits, i32(9)))
      for (let i = 0; i < 4; i++) f.put(i64s.store(get(c), 8 * i, i64s.load(i32(DIVIDEND), 8 * i)))
    },
  )
  return f.end()
}

/** c = (a × b) mod c with a full-width product; zero if c is zero. */
function writeMultiplyModulo(): FunctionCode {
  const f = new FunctionWriter([I32, I32, I32])
  const [a, b, c] = [0, 1, 2]
  const x = f.local(I64)
  const y = f.locals(I64, 4)
  const result = f.locals(I64, 8)
  const carry = f.local(I64)
  const product = declareProduct(f)
  f.when(isZero(c), () => f.put(RETURN))
  for (let j = 0; j < 4; j++) f.put(set(y[j], limb(b, j)))
  for (let i = 0; i < 4; i++) {
    f.put(set(x, limb(a, i)), set(carry, i64(0n)))
    f.when(i32s.isZero(i64s.isZero(get(x))), () => {
      for (let j = 0; j < 4; j++) {
        writeProduct(f, product, x, y[j])
        if (i > 0) writeAddTo(f, product.low, result[i + j], product.high)
        if (j > 0) writeAddTo(f, product.low, carry, product.high)
        f.put(set(result[i + j], get(product.low)), set(carry, get(product.high)))
      }
      f.put(set(result[i + 4], get(carry)))
    })
  }
  for (let i = 0; i < 8; i++) f.put(i64s.store(i32(DIVIDEND), 8 * i, get(result[i])))
  f.put(i64s.store(i32(DIVIDEND), 64, i64(0n)))
  writeCopy(f, c, DIVISOR)
  f.put(call(CALLS.divideDigits, i32(16)))
  for (let i = 0; i < 4; i++) f.put(i64s.store(get(c), 8 * i, i64s.load(i32(DIVIDEND), 8 * i)))
  return f.end()
}

/** b = a to the power of b. */
function writePower(): FunctionCode {
  const f = new FunctionWriter([I32, I32])
  const [a, b] = [0, 1]
  const [bit, started] = f.locals(I32, 2)
  writeCopy(f, a, FACTOR)
  f.put(i64s.store(i32(POWER), 0, i64(1n)))
  for (let i = 1; i < 4; i++) f.put(i64s.store(i32(POWER), 8 * i, i64(0n)))
  f.put(set(bit, i32(256)))
  f.block('done', () => {
    f.loop('bits', () => {
      f.goToWhen('done', i32s.isZero(get(bit)))
      f.put(set(bit, i32s.sub(get(bit), i32(1))))
      f.when(get(started), () => f.put(call(CALLS.multiply, i32(POWER), i32(POWER))))
      const byte = i32s.loadByte(i32s.add(get(b), i32s.right(get(bit), i32(3))))
      f.when(i32s.and(i32s.right(byte, i32s.and(get(bit), i32(7))), i32(1)), () => {
        f.put(call(CALLS.multiply, i32(FACTOR), i32(POWER)), set(started, i32(1)))
      })
      f.goTo('bits')
    })
  })
  for (let i = 0; i < 4; i++) f.put(i64s.store(get(b), 8 * i, i64s.load(i32(POWER), 8 * i)))
  return f.end()
}
