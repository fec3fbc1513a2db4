import {
  type Code,
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
import { DIVIDEND, DIVISOR, QUOTIENT } from './layout.js'

const { add, sub, multiply, and, or, left, right } = i64s
const LOW_HALF = i64(0xffff_ffffn)
const HALF = i64(32n)

/** Divides the `count` 32-bit digits at DIVIDEND, followed by a zero digit, by the 8 digits at DIVISOR, not all zero
 *  (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D). The first 8 digits of the quotient are left at
 *  QUOTIENT, the remainder at DIVIDEND. Digits behind them are zero, except for longer quotients. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its steps share the locals of one WebAssembly function
export function writeDivideDigits(): FunctionCode {
  const f = new FunctionWriter([I32])
  const n = 0 // digits of the dividend, without leading zeros
  const [m, i, j, at, shift] = f.locals(I32, 5)
  const [top, second, rest, guess, t, carry] = f.locals(I64, 6)
  const digit = (base: number, index: Code) => i64s.load32(digitAt(base, index))
  const minus1 = (local: number) => i32s.sub(get(local), i32(1))
  for (let k = 0; k < 4; k++) f.put(i64s.store(i32(QUOTIENT), 8 * k, i64(0n)))
  f.put(set(m, i32(8)))
  f.loop('divisor', () => {
    f.put(set(m, minus1(m)))
    f.goToWhen('divisor', i64s.isZero(digit(DIVISOR, get(m))))
  })
  f.put(set(m, i32s.add(get(m), i32(1))))
  f.block('counted', () => {
    f.loop('dividend', () => {
      f.goToWhen('counted', i32s.isZero(get(n)))
      f.put(set(n, minus1(n)))
      f.goToWhen('dividend', i64s.isZero(digit(DIVIDEND, get(n))))
    })
    f.put(set(n, i32s.add(get(n), i32(1))))
  })
  f.when(i32s.isLess(get(n), get(m)), () => f.put(RETURN))

  f.put(set(top, digit(DIVISOR, minus1(m))))
  f.when(i32s.equal(get(m), i32(1)), () => {
    f.put(set(i, get(n)), set(rest, i64(0n)))
    f.loop('digits', () => {
      f.put(
        set(i, minus1(i)),
        set(t, or(left(get(rest), HALF), digit(DIVIDEND, get(i)))),
        set(guess, i64s.divide(get(t), get(top))),
        set(rest, sub(get(t), multiply(get(guess), get(top)))),
        i64s.store32(digitAt(QUOTIENT, get(i)), 0, get(guess)),
        i64s.store32(digitAt(DIVIDEND, get(i)), 0, i64(0n)),
      )
      f.goToWhen('digits', get(i))
    })
    f.put(i64s.store32(i32(DIVIDEND), 0, get(rest)), RETURN)
  })

  // Both are shifted so that the divisor's top bit is set: quotient estimates are then at most 2 too large.
  f.put(set(shift, i32s.leadingZeros(i32s.low(get(top)))))
  const shiftUp = (base: number, from: Code) => {
    f.put(set(i, from))
    f.loop('shift', () => {
      // Includes the digit above, which is zero for the first.
      f.put(
        set(at, digitAt(base, get(i))),
        i64s.store32(get(at), 0, right(left(i64s.load(i32s.sub(get(at), i32(4))), i64s.of(get(shift))), HALF)),
        set(i, minus1(i)),
      )
      f.goToWhen('shift', i32s.isAtLeastSigned(get(i), i32(0)))
    })
  }
  f.when(get(shift), () => {
    shiftUp(DIVISOR, minus1(m))
    shiftUp(DIVIDEND, get(n))
  })
  f.put(set(top, digit(DIVISOR, minus1(m))), set(second, digit(DIVISOR, i32s.sub(get(m), i32(2)))))
  f.put(set(j, i32s.sub(get(n), get(m))))
  f.loop('quotient', () => {
    f.put(
      set(at, digitAt(DIVIDEND, get(j))),
      set(t, i64s.load(i32s.add(get(at), i32s.left(minus1(m), i32(2))))),
      set(guess, i64s.divide(get(t), get(top))),
      set(rest, sub(get(t), multiply(get(guess), get(top)))),
    )
    f.block('guessed', () => {
      f.loop('correct', () => {
        const before = i64s.load32(i32s.add(get(at), i32s.left(i32s.sub(get(m), i32(2)), i32(2))))
        const tooLarge = i64s.isMore(multiply(get(guess), get(second)), or(left(get(rest), HALF), before))
        f.goToWhen('guessed', i32s.isZero(i32s.or(i64s.isMore(get(guess), LOW_HALF), tooLarge)))
        f.put(set(guess, sub(get(guess), i64(1n))), set(rest, add(get(rest), get(top))))
        f.goToWhen('correct', i64s.isZero(right(get(rest), HALF)))
      })
    })
    // Subtracts estimate times divisor.
    f.put(set(i, i32(0)), set(carry, i64(0n)))
    f.loop('subtract', () => {
      f.put(
        set(rest, multiply(get(guess), digit(DIVISOR, get(i)))),
        set(t, sub(sub(i64s.load32(get(at)), get(carry)), and(get(rest), LOW_HALF))),
        i64s.store32(get(at), 0, get(t)),
        set(carry, sub(right(get(rest), HALF), i64s.rightSigned(get(t), HALF))),
        set(at, i32s.add(get(at), i32(4))),
        set(i, i32s.add(get(i), i32(1))),
      )
      f.goToWhen('subtract', i32s.isLess(get(i), get(m)))
    })
    f.put(set(t, sub(i64s.load32(get(at)), get(carry))), i64s.store32(get(at), 0, get(t)))
    f.when(i64s.isLessSigned(get(t), i64(0n)), () => {
      // The estimate was 1 too large: add the divisor back.
      f.put(
        set(guess, sub(get(guess), i64(1n))),
        set(at, digitAt(DIVIDEND, get(j))),
        set(i, i32(0)),
        set(carry, i64(0n)),
      )
      f.loop('add', () => {
        f.put(
          set(t, add(add(i64s.load32(get(at)), digit(DIVISOR, get(i))), get(carry))),
          i64s.store32(get(at), 0, get(t)),
          set(carry, right(get(t), HALF)),
          set(at, i32s.add(get(at), i32(4))),
          set(i, i32s.add(get(i), i32(1))),
        )
        f.goToWhen('add', i32s.isLess(get(i), get(m)))
      })
      f.put(i64s.store32(get(at), 0, add(i64s.load32(get(at)), get(carry))))
    })
    f.put(i64s.store32(digitAt(QUOTIENT, get(j)), 0, get(guess)), set(j, minus1(j)))
    f.goToWhen('quotient', i32s.isAtLeastSigned(get(j), i32(0)))
  })
  f.when(get(shift), () => {
    f.put(set(i, i32(0)))
    f.loop('shift', () => {
      f.put(
        set(at, digitAt(DIVIDEND, get(i))),
        i64s.store32(get(at), 0, right(i64s.load(get(at)), i64s.of(get(shift)))),
        set(i, i32s.add(get(i), i32(1))),
      )
      f.goToWhen('shift', i32s.isLess(get(i), get(m)))
    })
  })
  return f.end()
}

const digitAt = (base: number, index: Code): Code => i32s.add(i32s.left(index, i32(2)), i32(base))
