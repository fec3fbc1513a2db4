import { type Code, call, get, i32, i32s, i64, i64s, memoryFill, set, v128s } from '../../../wasm/assembler.js'
import { CALLS } from './arithmetic.js'
import { SHIFTED } from './layout.js'
import { anyOf, type Case, type CoreWriter, limb, NONE, register } from './writer.js'

/** Instructions that only use the words on top of the stack. */
export function wordCases(w: CoreWriter): Case[] {
  return [...arithmetic(w), ...comparisons(w), ...bits(w), ...shifts(w)]
}

function arithmetic(w: CoreWriter): Case[] {
  const { f } = w
  const ofTwo = (code: number, index: number) => w.binary(code, () => f.put(call(index, get(w.a), get(w.b))))
  const ofThree = (code: number, index: number): Case => ({
    codes: [code],
    write: () => {
      w.operands()
      f.put(call(index, get(w.a), get(w.b), i32s.sub(get(w.sp), i32(96))))
      w.next(-2)
    },
  })
  return [
    w.binary(0x01, () => writeAdd(w)),
    ofTwo(0x02, CALLS.multiply),
    w.binary(0x03, () => writeSub(w)),
    ofTwo(0x04, CALLS.divide),
    ofTwo(0x05, CALLS.divideSigned),
    ofTwo(0x06, CALLS.modulo),
    ofTwo(0x07, CALLS.moduloSigned),
    ofThree(0x08, CALLS.addModulo),
    ofThree(0x09, CALLS.multiplyModulo),
    w.binary(0x0a, () => writePower(w)),
  ]
}

function writeAdd(w: CoreWriter): void {
  const { f } = w
  const [x, y, , t] = w.x
  const carry = w.carry
  for (let i = 0; i < 4; i++) {
    f.put(set(x, limb(w.a, i)), set(y, limb(w.b, i)), set(t, i64s.add(get(x), get(y))))
    if (i === 0) {
      f.put(i64s.store(get(w.b), 0, get(t)), set(carry, i64s.of(i64s.isLess(get(t), get(x)))))
      continue
    }
    f.put(set(y, i64s.add(get(t), get(carry))), i64s.store(get(w.b), 8 * i, get(y)))
    if (i < 3) {
      f.put(set(carry, i64s.of(i32s.or(i64s.isLess(get(t), get(x)), i64s.isLess(get(y), get(t))))))
    }
  }
}

function writeSub(w: CoreWriter): void {
  const { f } = w
  const [x, y, , t] = w.x
  const borrow = w.carry
  for (let i = 0; i < 4; i++) {
    f.put(set(x, limb(w.a, i)), set(y, limb(w.b, i)), set(t, i64s.sub(get(x), get(y))))
    if (i === 0) {
      f.put(i64s.store(get(w.b), 0, get(t)), set(borrow, i64s.of(i64s.isLess(get(x), get(y)))))
      continue
    }
    f.put(i64s.store(get(w.b), 8 * i, i64s.sub(get(t), get(borrow))))
    if (i < 3) {
      f.put(set(borrow, i64s.of(i32s.or(i64s.isLess(get(x), get(y)), i64s.isLess(get(t), get(borrow))))))
    }
  }
}

/** EXP: charges for the exponent's bytes. Where jumps leave the loop, EXP leaves it too, because it takes
 *  microseconds. */
function writePower(w: CoreWriter): void {
  const { f } = w
  const [count] = w.x
  f.put(set(count, NONE))
  for (let i = 0; i < 4; i++) {
    f.when(i32s.isZero(i64s.isZero(limb(w.b, i))), () => {
      // Bytes of the limb up to the highest that is not zero, and those of the limbs below.
      const unused = i64s.right(i64s.leadingZeros(limb(w.b, i)), i64(3n))
      f.put(set(count, i64s.sub(i64(BigInt(8 * i + 8)), unused)))
    })
  }
  f.put(set(count, i64s.multiply(get(count), i64s.of(register('expByteGas')))))
  f.goToWhen('leave', i64s.isLessSigned(i64s.sub(get(w.gas), get(count)), get(w.checkAt)))
  f.goToWhen('leave', i64s.isLessSigned(get(w.gas), get(count)))
  f.put(set(w.gas, i64s.sub(get(w.gas), get(count))), call(CALLS.power, get(w.a), get(w.b)))
}

function comparisons(w: CoreWriter): Case[] {
  const { f } = w
  const compare = (code: number, x: number, y: number, isSigned: boolean) =>
    w.binary(code, () => {
      writeIsLess(w, x, y, isSigned)
      w.setNumber(w.b, i64s.of(get(w.flag)))
    })
  const same = (i: number) => i64s.xor(limb(w.a, i), limb(w.b, i))
  return [
    compare(0x10, w.a, w.b, false), // LT
    compare(0x11, w.b, w.a, false), // GT
    compare(0x12, w.a, w.b, true), // SLT
    compare(0x13, w.b, w.a, true), // SGT
    w.binary(0x14, () => {
      f.put(set(w.flag, i64s.isZero(anyOf(same(0), same(1), same(2), same(3)))))
      w.setNumber(w.b, i64s.of(get(w.flag)))
    }),
    {
      codes: [0x15], // ISZERO
      write: () => {
        w.operands()
        f.put(set(w.flag, w.isZero(w.a)))
        w.setNumber(w.a, i64s.of(get(w.flag)))
        w.next(0)
      },
    },
  ]
}

/** Sets `flag` to whether the word at `x` is less than the word at `y`. */
function writeIsLess(w: CoreWriter, x: number, y: number, isLessSigned: boolean): void {
  const { f } = w
  f.put(set(w.flag, i64s.isLess(limb(x, 0), limb(y, 0))))
  for (let i = 1; i < 4; i++) {
    const same = i32s.and(i64s.equal(limb(x, i), limb(y, i)), get(w.flag))
    const less = i === 3 && isLessSigned ? i64s.isLessSigned : i64s.isLess
    f.put(set(w.flag, i32s.or(less(limb(x, i), limb(y, i)), same)))
  }
}

function bits(w: CoreWriter): Case[] {
  const { f } = w
  const combine = (code: number, operation: (x: Code, y: Code) => Code) =>
    w.binary(code, () => {
      for (const at of [0, 16]) {
        const value = operation(v128s.load(get(w.a), at), v128s.load(get(w.b), at))
        f.put(v128s.store(get(w.b), at, value))
      }
    })
  return [
    combine(0x16, v128s.and),
    combine(0x17, v128s.or),
    combine(0x18, v128s.xor),
    {
      codes: [0x19], // NOT
      write: () => {
        w.operands()
        for (const at of [0, 16]) {
          f.put(v128s.store(get(w.a), at, v128s.not(v128s.load(get(w.a), at))))
        }
        w.next(0)
      },
    },
    {
      codes: [0x1e], // CLZ
      write: () => {
        w.operands()
        const [count] = w.x
        f.put(set(count, i64s.leadingZeros(limb(w.a, 3))))
        for (const i of [2, 1, 0]) {
          f.when(i64s.equal(get(count), i64(BigInt(64 * (3 - i)))), () => {
            f.put(set(count, i64s.add(get(count), i64s.leadingZeros(limb(w.a, i)))))
          })
        }
        w.setNumber(w.a, get(count))
        w.next(0)
      },
    },
  ]
}

function shifts(w: CoreWriter): Case[] {
  const { f } = w
  return [
    shift(w, 0x1b),
    shift(w, 0x1c),
    shift(w, 0x1d),
    w.binary(0x1a, () => {
      // BYTE
      const at = i32s.sub(i32s.add(get(w.b), i32(31)), i32s.low(limb(w.a, 0)))
      f.put(set(w.flag, w.isBeyond(i64(32n))))
      f.when(
        get(w.flag),
        () => w.setNumber(w.b, NONE),
        () => {
          f.put(set(w.x[0], i64s.load8(at)))
          w.setNumber(w.b, get(w.x[0]))
        },
      )
    }),
    w.binary(0x0b, () => {
      // SIGNEXTEND
      f.when(i32s.isZero(w.isBeyond(i64(31n))), () => {
        const [sign] = w.x
        f.put(set(w.t, i32s.add(get(w.b), i32s.low(limb(w.a, 0)))))
        f.put(set(sign, i64s.rightSigned(i64s.load8Signed(get(w.t)), i64(8n))))
        const rest = i32s.sub(i32s.add(get(w.b), i32(31)), get(w.t))
        f.put(memoryFill(i32s.add(get(w.t), i32(1)), i32s.low(get(sign)), rest))
      })
    }),
  ]
}

/** SHL, SHR, SAR: the word is copied between zero words, or sign words, and read at a byte offset, two limbs at a time,
 *  which are shifted by the remaining bits. */
function shift(w: CoreWriter, code: 0x1b | 0x1c | 0x1d): Case {
  const { f } = w
  const [fill, bits, t] = w.x
  return w.binary(code, () => {
    const sign = i64s.rightSigned(limb(w.b, 3), i64(63n))
    f.put(set(fill, code === 0x1d ? sign : NONE))
    f.when(
      w.isBeyond(i64(256n)),
      () => {
        for (let i = 0; i < 4; i++) f.put(i64s.store(get(w.b), 8 * i, get(fill)))
      },
      () => {
        for (const at of [0, 16]) f.put(v128s.store(i32(SHIFTED), at, v128s.load(get(w.b), at)))
        for (let i = 4; code !== 0x1b && i < 9; i++) f.put(i64s.store(i32(SHIFTED), 8 * i, get(fill)))
        f.put(set(w.t, i32s.right(i32s.low(limb(w.a, 0)), i32(3))))
        f.put(set(bits, i64s.and(limb(w.a, 0), i64(7n))))
        const first = code === 0x1b ? i32s.sub(i32(SHIFTED - 8), get(w.t)) : i32s.add(i32(SHIFTED), get(w.t))
        f.put(set(w.t, first))
        for (let i = 0; i < 4; i++) {
          const [low, high] = [i64s.load(get(w.t), 8 * i), i64s.load(get(w.t), 8 * i + 8)]
          const rest = i64s.xor(get(bits), i64(63n)) // 63 - bits
          const value =
            code === 0x1b
              ? i64s.or(i64s.left(high, get(bits)), i64s.right(i64s.right(low, i64(1n)), rest))
              : i64s.or(i64s.right(low, get(bits)), i64s.left(i64s.left(high, i64(1n)), rest))
          f.put(set(t, value), i64s.store(get(w.b), 8 * i, get(t)))
        }
      },
    )
  })
}
