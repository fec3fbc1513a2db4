import { INPUT_AT, keccakConstants, keccakFunction, OUTPUT_AT } from '../../lib/keccakModule.js'
import {
  assembleModule,
  type Code,
  call,
  F64,
  type FunctionCode,
  FunctionWriter,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  memoryCopy,
  memoryFill,
  set,
  V128,
  v128s,
} from '../../lib/webAssembly.js'
import { arithmeticFunctions, CALLS } from './arithmeticModule.js'
import { INSTRUCTIONS, KECCAK, LONGEST_HASHED, MASKS, PAGES, REGISTERS, SHIFTED, STACKS } from './loopLayout.js'

/* The loop of `execute` in WebAssembly, for the instructions that need nothing but stack, code and memory. It is never wrong
   to leave an instruction to `execute`: whatever may fail is left, before anything of it is done. */

/** The module's bytes. It exports `memory`, laid out as `loopLayout` says, and `run(pc, sp, gas, checkAt)`, which executes
 *  instructions from `pc` on until it comes to one that it leaves, and returns the gas that is left; where it stopped is in
 *  the registers. Jumps are left when less gas than `checkAt` would remain. */
export function assembleLoop(): Uint8Array<ArrayBuffer> {
  const masks = [...new Array<number>(32).fill(0xff), ...new Array<number>(32).fill(0)]
  return assembleModule({
    pages: PAGES,
    functions: [...arithmeticFunctions(), keccakFunction(KECCAK), new Loop().write()],
    data: [
      { at: MASKS, bytes: masks },
      { at: KECCAK, bytes: keccakConstants() },
    ],
  })
}

/** Instructions that the loop executes. */
export function loopInstructions(): ReadonlySet<number> {
  return new Set(new Loop().cases().flatMap(({ codes }) => codes))
}

interface Case {
  codes: readonly number[]
  write(): void
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
const register = (name: keyof typeof REGISTERS): Code => i32s.load(i32(REGISTERS[name]))
const limb = (address: number, i: number): Code => i64s.load(get(address), 8 * i)
const anyOf = (...limbs: readonly Code[]): Code => limbs.reduce((x, y) => i64s.or(x, y))
const NONE = i64(0n)

class Loop {
  readonly #f = new FunctionWriter([I32, I32, F64, F64], [F64])
  /** Addresses: of the instruction, and where the stack ends. */
  readonly #pc = 0
  readonly #sp = 1
  readonly #gas = this.#f.local(I64)
  readonly #checkAt = this.#f.local(I64)
  readonly #base = this.#f.local(I32)
  readonly #code = this.#f.local(I32)
  readonly #op = this.#f.local(I32)
  readonly #row = this.#f.local(I32)
  /** Addresses of the words on top of the stack and below it. */
  readonly #a = this.#f.local(I32)
  readonly #b = this.#f.local(I32)
  readonly #t = this.#f.local(I32)
  readonly #flag = this.#f.local(I32)
  readonly #x = this.#f.locals(I64, 4)
  readonly #carry = this.#f.local(I64)
  readonly #low = this.#f.local(V128)
  readonly #high = this.#f.local(V128)

  write(): FunctionCode {
    const f = this.#f
    const cases = this.cases()
    f.put(
      set(this.#code, register('code')),
      set(this.#pc, i32s.add(get(this.#code), get(this.#pc))),
      set(this.#base, this.#stackAddress(register('stackBase'))),
      set(this.#sp, this.#stackAddress(get(this.#sp))),
      set(this.#gas, i64s.ofDouble(get(2))),
      set(this.#checkAt, i64s.ofDouble(get(3))),
    )
    f.block('stop', () => {
      f.block('leave', () => {
        f.loop('next', () => this.#writeCases(cases))
      })
      // Its gas is given back.
      f.put(set(this.#gas, i64s.add(get(this.#gas), i64s.load(get(this.#row), 8))))
    })
    f.put(
      i32s.store(i32(REGISTERS.pc), 0, i32s.sub(get(this.#pc), get(this.#code))),
      i32s.store(i32(REGISTERS.sp), 0, i32s.right(i32s.sub(get(this.#sp), i32(STACKS)), i32(2))),
      i64s.toDouble(get(this.#gas)),
    )
    return f.end('run')
  }

  #stackAddress(limbs: Code): Code {
    return i32s.add(i32s.left(limbs, i32(2)), i32(STACKS))
  }

  /** A block for each case, each in the next: what stands behind the end of the nth is the nth case. */
  #writeCases(cases: readonly Case[]): void {
    const labels = new Array<string>(256).fill('leave')
    cases.forEach(({ codes }, n) => {
      for (const code of codes) labels[code] = `case ${n}`
    })
    const nest = (n: number): void => {
      if (n < 0) {
        this.#writeDispatch(labels)
        return
      }
      this.#f.block(`case ${n}`, () => nest(n - 1))
      cases[n].write()
    }
    nest(cases.length - 1)
  }

  #writeDispatch(labels: readonly string[]): void {
    const f = this.#f
    const height = i32s.sub(get(this.#sp), get(this.#base))
    const row = get(this.#row)
    f.put(
      set(this.#op, i32s.loadByte(get(this.#pc))),
      set(this.#row, i32s.add(i32s.left(get(this.#op), i32(4)), i32(INSTRUCTIONS))),
    )
    // One comparison: what is too low is very high without sign.
    f.goToWhen('stop', i32s.isMore(i32s.sub(height, i32s.load(row)), i32s.load(row, 4)))
    f.put(set(this.#gas, i64s.sub(get(this.#gas), i64s.load(row, 8))))
    f.goToWhen('leave', i64s.isLessSigned(get(this.#gas), NONE))
    f.goToOneOf(labels, 'leave', get(this.#op))
  }

  /** Goes on behind the instruction and its `size` bytes of data, with the stack `words` higher. */
  #next(words: number, size: Code = i32(0)): void {
    const f = this.#f
    if (words !== 0) f.put(set(this.#sp, i32s.add(get(this.#sp), i32(32 * words))))
    f.put(set(this.#pc, i32s.add(i32s.add(get(this.#pc), i32(1)), size)))
    f.goTo('next')
  }

  cases(): Case[] {
    return [...this.#arithmetic(), ...this.#comparisons(), ...this.#bits(), ...this.#shifts(), ...this.#others()]
  }

  /** Sets the addresses of the words on the stack. */
  #operands(): void {
    this.#f.put(set(this.#a, i32s.sub(get(this.#sp), i32(32))), set(this.#b, i32s.sub(get(this.#sp), i32(64))))
  }

  /** A case of one instruction on the two words on top, of which one is left. */
  #binary(code: number, write: () => void): Case {
    return {
      codes: [code],
      write: () => {
        this.#operands()
        write()
        this.#next(-1)
      },
    }
  }

  #arithmetic(): Case[] {
    const f = this.#f
    const ofTwo = (code: number, index: number) =>
      this.#binary(code, () => f.put(call(index, get(this.#a), get(this.#b))))
    const ofThree = (code: number, index: number): Case => ({
      codes: [code],
      write: () => {
        this.#operands()
        f.put(call(index, get(this.#a), get(this.#b), i32s.sub(get(this.#sp), i32(96))))
        this.#next(-2)
      },
    })
    return [
      this.#binary(0x01, () => this.#writeAdd()),
      ofTwo(0x02, CALLS.multiply),
      this.#binary(0x03, () => this.#writeSub()),
      ofTwo(0x04, CALLS.divide),
      ofTwo(0x05, CALLS.divideSigned),
      ofTwo(0x06, CALLS.modulo),
      ofTwo(0x07, CALLS.moduloSigned),
      ofThree(0x08, CALLS.addModulo),
      ofThree(0x09, CALLS.multiplyModulo),
      this.#binary(0x0a, () => this.#writePower()),
    ]
  }

  #writeAdd(): void {
    const f = this.#f
    const [x, y, , t] = this.#x
    const carry = this.#carry
    for (let i = 0; i < 4; i++) {
      f.put(set(x, limb(this.#a, i)), set(y, limb(this.#b, i)), set(t, i64s.add(get(x), get(y))))
      if (i === 0) {
        f.put(i64s.store(get(this.#b), 0, get(t)), set(carry, i64s.of(i64s.isLess(get(t), get(x)))))
        continue
      }
      f.put(set(y, i64s.add(get(t), get(carry))), i64s.store(get(this.#b), 8 * i, get(y)))
      if (i < 3) {
        f.put(set(carry, i64s.of(i32s.or(i64s.isLess(get(t), get(x)), i64s.isLess(get(y), get(t))))))
      }
    }
  }

  #writeSub(): void {
    const f = this.#f
    const [x, y, , t] = this.#x
    const borrow = this.#carry
    for (let i = 0; i < 4; i++) {
      f.put(set(x, limb(this.#a, i)), set(y, limb(this.#b, i)), set(t, i64s.sub(get(x), get(y))))
      if (i === 0) {
        f.put(i64s.store(get(this.#b), 0, get(t)), set(borrow, i64s.of(i64s.isLess(get(x), get(y)))))
        continue
      }
      f.put(i64s.store(get(this.#b), 8 * i, i64s.sub(get(t), get(borrow))))
      if (i < 3) {
        f.put(set(borrow, i64s.of(i32s.or(i64s.isLess(get(x), get(y)), i64s.isLess(get(t), get(borrow))))))
      }
    }
  }

  /** EXP: pays for the bytes of the exponent. */
  #writePower(): void {
    const f = this.#f
    const [count] = this.#x
    f.put(set(count, NONE))
    for (let i = 0; i < 4; i++) {
      f.when(i32s.isZero(i64s.isZero(limb(this.#b, i))), () => {
        // Bytes of the limb up to the highest that is not zero, and those of the limbs below.
        const unused = i64s.right(i64s.leadingZeros(limb(this.#b, i)), i64(3n))
        f.put(set(count, i64s.sub(i64(BigInt(8 * i + 8)), unused)))
      })
    }
    f.put(set(count, i64s.multiply(get(count), i64s.of(register('expByteGas')))))
    f.goToWhen('leave', i64s.isLessSigned(get(this.#gas), get(count)))
    f.put(set(this.#gas, i64s.sub(get(this.#gas), get(count))), call(CALLS.power, get(this.#a), get(this.#b)))
  }

  /** Sets the word at the address to a number of 64 bits. */
  #setNumber(address: number, value: Code): void {
    this.#f.put(
      i64s.store(get(address), 0, value),
      i64s.store(get(address), 8, NONE),
      v128s.store(get(address), 16, v128s.zero),
    )
  }

  /** Sets `flag` to whether the word at `x` is less than that at `y`. */
  #writeIsLess(x: number, y: number, isLessSigned: boolean): void {
    const f = this.#f
    f.put(set(this.#flag, i64s.isLess(limb(x, 0), limb(y, 0))))
    for (let i = 1; i < 4; i++) {
      const same = i32s.and(i64s.equal(limb(x, i), limb(y, i)), get(this.#flag))
      const less = i === 3 && isLessSigned ? i64s.isLessSigned : i64s.isLess
      f.put(set(this.#flag, i32s.or(less(limb(x, i), limb(y, i)), same)))
    }
  }

  #comparisons(): Case[] {
    const f = this.#f
    const compare = (code: number, x: number, y: number, isSigned: boolean) =>
      this.#binary(code, () => {
        this.#writeIsLess(x, y, isSigned)
        this.#setNumber(this.#b, i64s.of(get(this.#flag)))
      })
    const same = (i: number) => i64s.xor(limb(this.#a, i), limb(this.#b, i))
    return [
      compare(0x10, this.#a, this.#b, false), // LT
      compare(0x11, this.#b, this.#a, false), // GT
      compare(0x12, this.#a, this.#b, true), // SLT
      compare(0x13, this.#b, this.#a, true), // SGT
      this.#binary(0x14, () => {
        f.put(set(this.#flag, i64s.isZero(anyOf(same(0), same(1), same(2), same(3)))))
        this.#setNumber(this.#b, i64s.of(get(this.#flag)))
      }),
      {
        codes: [0x15], // ISZERO
        write: () => {
          this.#operands()
          f.put(set(this.#flag, this.#isZero(this.#a)))
          this.#setNumber(this.#a, i64s.of(get(this.#flag)))
          this.#next(0)
        },
      },
    ]
  }

  #isZero(address: number): Code {
    return i64s.isZero(anyOf(limb(address, 0), limb(address, 1), limb(address, 2), limb(address, 3)))
  }

  #bits(): Case[] {
    const f = this.#f
    const combine = (code: number, operation: (x: Code, y: Code) => Code) =>
      this.#binary(code, () => {
        for (const at of [0, 16]) {
          const value = operation(v128s.load(get(this.#a), at), v128s.load(get(this.#b), at))
          f.put(v128s.store(get(this.#b), at, value))
        }
      })
    return [
      combine(0x16, v128s.and),
      combine(0x17, v128s.or),
      combine(0x18, v128s.xor),
      {
        codes: [0x19], // NOT
        write: () => {
          this.#operands()
          for (const at of [0, 16]) {
            f.put(v128s.store(get(this.#a), at, v128s.not(v128s.load(get(this.#a), at))))
          }
          this.#next(0)
        },
      },
      {
        codes: [0x1e], // CLZ
        write: () => {
          this.#operands()
          const [count] = this.#x
          f.put(set(count, i64s.leadingZeros(limb(this.#a, 3))))
          for (const i of [2, 1, 0]) {
            f.when(i64s.equal(get(count), i64(BigInt(64 * (3 - i)))), () => {
              f.put(set(count, i64s.add(get(count), i64s.leadingZeros(limb(this.#a, i)))))
            })
          }
          this.#setNumber(this.#a, get(count))
          this.#next(0)
        },
      },
    ]
  }

  /** Whether the word on top is not below a number of at most 32 bits. */
  #isBeyond(limit: Code): Code {
    const high = anyOf(limb(this.#a, 1), limb(this.#a, 2), limb(this.#a, 3))
    return i32s.or(i32s.isZero(i64s.isZero(high)), i64s.isAtLeast(limb(this.#a, 0), limit))
  }

  #shifts(): Case[] {
    const f = this.#f
    return [
      this.#shift(0x1b),
      this.#shift(0x1c),
      this.#shift(0x1d),
      this.#binary(0x1a, () => {
        // BYTE
        const at = i32s.sub(i32s.add(get(this.#b), i32(31)), i32s.low(limb(this.#a, 0)))
        f.put(set(this.#flag, this.#isBeyond(i64(32n))))
        f.when(
          get(this.#flag),
          () => this.#setNumber(this.#b, NONE),
          () => {
            f.put(set(this.#x[0], i64s.load8(at)))
            this.#setNumber(this.#b, get(this.#x[0]))
          },
        )
      }),
      this.#binary(0x0b, () => {
        // SIGNEXTEND
        f.when(i32s.isZero(this.#isBeyond(i64(31n))), () => {
          const [sign] = this.#x
          f.put(set(this.#t, i32s.add(get(this.#b), i32s.low(limb(this.#a, 0)))))
          f.put(set(sign, i64s.rightSigned(i64s.load8Signed(get(this.#t)), i64(8n))))
          const rest = i32s.sub(i32s.add(get(this.#b), i32(31)), get(this.#t))
          f.put(memoryFill(i32s.add(get(this.#t), i32(1)), i32s.low(get(sign)), rest))
        })
      }),
    ]
  }

  /** SHL, SHR, SAR: the word is copied between others that are zero, or filled with its sign, and read there from some
   *  bytes further on, two limbs for each, which are shifted by the bits that remain. */
  #shift(code: 0x1b | 0x1c | 0x1d): Case {
    const f = this.#f
    const [fill, bits, t] = this.#x
    return this.#binary(code, () => {
      const sign = i64s.rightSigned(limb(this.#b, 3), i64(63n))
      f.put(set(fill, code === 0x1d ? sign : NONE))
      f.when(
        this.#isBeyond(i64(256n)),
        () => {
          for (let i = 0; i < 4; i++) f.put(i64s.store(get(this.#b), 8 * i, get(fill)))
        },
        () => {
          for (const at of [0, 16]) f.put(v128s.store(i32(SHIFTED), at, v128s.load(get(this.#b), at)))
          for (let i = 4; code !== 0x1b && i < 9; i++) f.put(i64s.store(i32(SHIFTED), 8 * i, get(fill)))
          f.put(set(this.#t, i32s.right(i32s.low(limb(this.#a, 0)), i32(3))))
          f.put(set(bits, i64s.and(limb(this.#a, 0), i64(7n))))
          const first = code === 0x1b ? i32s.sub(i32(SHIFTED - 8), get(this.#t)) : i32s.add(i32(SHIFTED), get(this.#t))
          f.put(set(this.#t, first))
          for (let i = 0; i < 4; i++) {
            const [low, high] = [i64s.load(get(this.#t), 8 * i), i64s.load(get(this.#t), 8 * i + 8)]
            const rest = i64s.xor(get(bits), i64(63n)) // 63 - bits
            const value =
              code === 0x1b
                ? i64s.or(i64s.left(high, get(bits)), i64s.right(i64s.right(low, i64(1n)), rest))
                : i64s.or(i64s.right(low, get(bits)), i64s.left(i64s.left(high, i64(1n)), rest))
            f.put(set(t, value), i64s.store(get(this.#b), 8 * i, get(t)))
          }
        },
      )
    })
  }

  #others(): Case[] {
    return [
      ...this.#memory(),
      this.#keccak(),
      ...this.#jumps(),
      ...this.#pushes(),
      ...this.#copies(),
      ...this.#numbers(),
    ]
  }

  /** Copies the 32 bytes at `from` in reverse order to the word at `to`, or the other way round. */
  #writeReversed(from: Code, to: Code): void {
    this.#f.put(
      set(this.#low, v128s.load(from, 16)),
      set(this.#high, v128s.load(from, 0)),
      v128s.store(to, 0, v128s.reverse(get(this.#low))),
      v128s.store(to, 16, v128s.reverse(get(this.#high))),
    )
  }

  #memory(): Case[] {
    const f = this.#f
    /** Leaves offsets beyond those of `top`; otherwise sets `t` to the address. */
    const address = (base: 'memory' | 'input', top: 'memoryTop' | 'inputTop') => {
      this.#operands()
      f.goToWhen('leave', this.#isBeyond(i64s.of(register(top))))
      f.put(set(this.#t, i32s.add(register(base), i32s.low(limb(this.#a, 0)))))
    }
    return [
      {
        codes: [0x51], // MLOAD
        write: () => {
          address('memory', 'memoryTop')
          this.#writeReversed(get(this.#t), get(this.#a))
          this.#next(0)
        },
      },
      {
        codes: [0x52], // MSTORE
        write: () => {
          address('memory', 'memoryTop')
          this.#writeReversed(get(this.#b), get(this.#t))
          this.#next(-2)
        },
      },
      {
        codes: [0x53], // MSTORE8
        write: () => {
          address('memory', 'memoryTop')
          f.put(i64s.store8(get(this.#t), 0, limb(this.#b, 0)))
          this.#next(-2)
        },
      },
      {
        codes: [0x35], // CALLDATALOAD
        write: () => {
          address('input', 'inputTop')
          this.#writeReversed(get(this.#t), get(this.#a))
          this.#next(0)
        },
      },
    ]
  }

  /** KECCAK256 of not too many bytes in memory that is there already. Where jumps are left, it is left too, since then the
   *  clock must be looked at. */
  #keccak(): Case {
    const f = this.#f
    const [length, price] = this.#x
    return {
      codes: [0x20],
      write: () => {
        this.#operands()
        f.goToWhen('leave', this.#isBeyond(i64s.of(register('memoryTop'))))
        const isLong = i64s.isMore(limb(this.#b, 0), i64(BigInt(LONGEST_HASHED)))
        const high = anyOf(limb(this.#b, 1), limb(this.#b, 2), limb(this.#b, 3))
        f.goToWhen('leave', i32s.or(i32s.isZero(i64s.isZero(high)), isLong))
        f.put(set(length, limb(this.#b, 0)))
        f.goToWhen('leave', i64s.isMore(i64s.add(limb(this.#a, 0), get(length)), i64s.of(register('memorySize'))))
        const words = i64s.right(i64s.add(get(length), i64(31n)), i64(5n))
        f.put(set(price, i64s.multiply(words, i64(6n))))
        f.goToWhen('leave', i64s.isLessSigned(i64s.sub(get(this.#gas), get(price)), get(this.#checkAt)))
        f.goToWhen('leave', i64s.isLessSigned(get(this.#gas), get(price)))
        f.put(set(this.#gas, i64s.sub(get(this.#gas), get(price))))
        const from = i32s.add(register('memory'), i32s.low(limb(this.#a, 0)))
        f.put(memoryCopy(i32(KECCAK + INPUT_AT), from, i32s.low(get(length))))
        f.put(call(CALLS.keccak, i32s.low(get(length)), i32(0), i32(1)))
        this.#writeReversed(i32(KECCAK + OUTPUT_AT), get(this.#b))
        this.#next(-1)
      },
    }
  }

  #jumps(): Case[] {
    const f = this.#f
    /** Jumps to where the word on top says. The JUMPDEST is executed here; that there was gas for it is seen at the next
     *  instruction. */
    const jump = (words: number) => {
      f.goToWhen('leave', this.#isBeyond(i64s.of(register('codeLength'))))
      f.put(set(this.#t, i32s.low(limb(this.#a, 0))))
      const bits = i32s.loadByte(i32s.add(register('targets'), i32s.right(get(this.#t), i32(3))))
      const bit = i32s.and(i32s.right(bits, i32s.and(get(this.#t), i32(7))), i32(1))
      f.goToWhen('leave', i32s.isZero(bit))
      f.goToWhen('leave', i64s.isLessSigned(i64s.sub(get(this.#gas), i64(1n)), get(this.#checkAt)))
      f.put(set(this.#gas, i64s.sub(get(this.#gas), i64(1n))), set(this.#pc, i32s.add(get(this.#code), get(this.#t))))
      this.#next(words)
    }
    return [
      {
        codes: [0x56], // JUMP
        write: () => {
          this.#operands()
          jump(-1)
        },
      },
      {
        codes: [0x57], // JUMPI
        write: () => {
          this.#operands()
          f.when(this.#isZero(this.#b), () => this.#next(-2))
          jump(-2)
        },
      },
      { codes: [0x5b], write: () => this.#next(0) }, // JUMPDEST
    ]
  }

  #pushes(): Case[] {
    const f = this.#f
    const number = (code: number, value: Code): Case => ({
      codes: [code],
      write: () => {
        this.#setNumber(this.#sp, value)
        this.#next(1, i32(code - 0x5f))
      },
    })
    return [
      number(0x5f, NONE),
      number(0x60, i64s.load8(get(this.#pc), 1)),
      number(0x61, i64s.or(i64s.left(i64s.load8(get(this.#pc), 1), i64(8n)), i64s.load8(get(this.#pc), 2))),
      {
        codes: range(0x62, 0x7f),
        write: () => {
          // The 32 bytes that end with the data; those before it are masked.
          f.put(set(this.#b, i32s.sub(get(this.#op), i32(0x5f))))
          f.put(set(this.#t, i32s.sub(i32s.add(get(this.#pc), get(this.#b)), i32(31))))
          f.put(set(this.#a, i32s.sub(i32(MASKS + 32), get(this.#b))))
          for (const [from, to] of [
            [16, 0],
            [0, 16],
          ]) {
            f.put(set(this.#low, v128s.load(get(this.#t), from)))
            const bytes = v128s.and(v128s.reverse(get(this.#low)), v128s.load(get(this.#a), to))
            f.put(v128s.store(get(this.#sp), to, bytes))
          }
          this.#next(1, get(this.#b))
        },
      },
    ]
  }

  #copies(): Case[] {
    const f = this.#f
    return [
      {
        codes: range(0x80, 0x8f), // DUP1 to DUP16
        write: () => {
          f.put(set(this.#t, i32s.sub(get(this.#sp), i32s.left(i32s.sub(get(this.#op), i32(0x7f)), i32(5)))))
          for (const at of [0, 16]) f.put(v128s.store(get(this.#sp), at, v128s.load(get(this.#t), at)))
          this.#next(1)
        },
      },
      {
        codes: range(0x90, 0x9f), // SWAP1 to SWAP16
        write: () => {
          this.#operands()
          f.put(set(this.#t, i32s.sub(get(this.#sp), i32s.left(i32s.sub(get(this.#op), i32(0x8e)), i32(5)))))
          for (const at of [0, 16]) {
            f.put(
              set(this.#low, v128s.load(get(this.#t), at)),
              set(this.#high, v128s.load(get(this.#a), at)),
              v128s.store(get(this.#t), at, get(this.#high)),
              v128s.store(get(this.#a), at, get(this.#low)),
            )
          }
          this.#next(0)
        },
      },
      { codes: [0x50], write: () => this.#next(-1) }, // POP
    ]
  }

  /** What the registers hold, and the gas. */
  #numbers(): Case[] {
    const number = (code: number, value: Code): Case => ({
      codes: [code],
      write: () => {
        this.#setNumber(this.#sp, value)
        this.#next(1)
      },
    })
    return [
      number(0x36, i64s.of(register('inputLength'))), // CALLDATASIZE
      number(0x38, i64s.of(register('codeLength'))), // CODESIZE
      number(0x3d, i64s.of(register('returnLength'))), // RETURNDATASIZE
      number(0x58, i64s.of(i32s.sub(get(this.#pc), get(this.#code)))), // PC
      number(0x59, i64s.of(register('memorySize'))), // MSIZE
      {
        codes: [0x5a], // GAS
        write: () => {
          this.#f.goToWhen('leave', register('gasBeyond'))
          this.#setNumber(this.#sp, get(this.#gas))
          this.#next(1)
        },
      },
    ]
  }
}
