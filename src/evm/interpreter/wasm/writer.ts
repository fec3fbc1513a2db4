import {
  type Code,
  call,
  F64,
  FunctionWriter,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  set,
  V128,
  v128s,
} from '../../../wasm/assembler.js'
import { CALLS } from './arithmetic.js'
import { REGISTERS } from './layout.js'

/** Some opcodes and the code generator for them. Its code ends with `CoreWriter.next`, or jumps to `leave` having
 *  changed nothing but the constant gas. */
export interface Case {
  codes: readonly number[]
  write(): void
}

/** All codes from the first to the last. */
export const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
/** What a register holds. */
export const register = (name: keyof typeof REGISTERS): Code => i32s.load(i32(REGISTERS[name]))
/** Limb `i`, of 64 bits, of the word at an address in a local. */
export const limb = (address: number, i: number): Code => i64s.load(get(address), 8 * i)
/** The OR of all: zero if all are zero. */
export const anyOf = (...limbs: readonly Code[]): Code => limbs.reduce((x, y) => i64s.or(x, y))
/** Zero, of 64 bits. */
export const NONE = i64(0n)

/** Generates the interpreter loop: its locals, and code shared by many instructions. */
export class CoreWriter {
  readonly f = new FunctionWriter([I32, I32, F64, F64], [F64])
  /** Addresses of the instruction and of the stack pointer. */
  readonly pc = 0
  readonly sp = 1
  /** Gas left; may be -1 before an instruction, as in `runFrame`. */
  readonly gas = this.f.local(I64)
  readonly checkAt = this.f.local(I64)
  /** Addresses of the frame's stack and of the code. */
  readonly base = this.f.local(I32)
  readonly code = this.f.local(I32)
  /** The instruction, and the address of its row in the table. */
  readonly op = this.f.local(I32)
  readonly row = this.f.local(I32)
  /** Addresses of the words on top of the stack and below it. */
  readonly a = this.f.local(I32)
  readonly b = this.f.local(I32)
  // Temporaries.
  readonly t = this.f.local(I32)
  readonly flag = this.f.local(I32)
  readonly x = this.f.locals(I64, 4)
  readonly carry = this.f.local(I64)
  /** Gas left once an instruction is paid. */
  readonly paid = this.f.local(I64)
  readonly low = this.f.local(V128)
  readonly high = this.f.local(V128)

  /** Continues behind the instruction and its `size` immediate bytes, with the stack `words` higher. */
  next(words: number, size: Code = i32(0)): void {
    const f = this.f
    if (words !== 0) f.put(set(this.sp, i32s.add(get(this.sp), i32(32 * words))))
    f.put(set(this.pc, i32s.add(i32s.add(get(this.pc), i32(1)), size)))
    f.goTo('next')
  }

  /** Sets the addresses of the words on the stack. */
  operands(): void {
    this.f.put(set(this.a, i32s.sub(get(this.sp), i32(32))), set(this.b, i32s.sub(get(this.sp), i32(64))))
  }

  /** An instruction that replaces the two top words by one. */
  binary(code: number, write: () => void): Case {
    return {
      codes: [code],
      write: () => {
        this.operands()
        write()
        this.next(-1)
      },
    }
  }

  /** Sets the word at the address to a number of 64 bits. */
  setNumber(address: number, value: Code): void {
    this.f.put(
      i64s.store(get(address), 0, value),
      i64s.store(get(address), 8, NONE),
      v128s.store(get(address), 16, v128s.zero),
    )
  }

  /** True if the word at an address is zero. */
  isZero(address: number): Code {
    return i64s.isZero(anyOf(limb(address, 0), limb(address, 1), limb(address, 2), limb(address, 3)))
  }

  /** True if the top word is at least a number of 32 bits. */
  isBeyond(limit: Code): Code {
    const high = anyOf(limb(this.a, 1), limb(this.a, 2), limb(this.a, 3))
    return i32s.or(i32s.isZero(i64s.isZero(high)), i64s.isAtLeast(limb(this.a, 0), limit))
  }

  /** Sets `paid` to the gas left after `price` for each word of `length` bytes. Leaves the loop if it is not enough, or
   *  the deadline must be checked. */
  payForWords(length: Code, price: bigint): void {
    const words = i64s.right(i64s.add(length, i64(31n)), i64(5n))
    this.f.put(set(this.paid, i64s.sub(get(this.gas), i64s.multiply(words, i64(price)))))
    this.f.goToWhen('leave', i64s.isLessSigned(get(this.paid), get(this.checkAt)))
    this.f.goToWhen('leave', i64s.isLessSigned(get(this.paid), NONE))
  }

  /** Extends the frame's memory to `end`, beyond its size, and pays for it from `gas`. Leaves the loop if it cannot. */
  extendMemory(end: Code, gas: Code): void {
    this.f.put(set(this.paid, call(CALLS.extendMemory, end, gas)))
    this.f.goToWhen('leave', i64s.isLessSigned(get(this.paid), NONE))
    this.f.put(set(this.gas, get(this.paid)))
  }

  /** Byte-reverses the 32 bytes at `from` to the word at `to`, or vice versa. */
  writeReversed(from: Code, to: Code): void {
    this.f.put(
      set(this.low, v128s.load(from, 16)),
      set(this.high, v128s.load(from, 0)),
      v128s.store(to, 0, v128s.reverse(get(this.low))),
      v128s.store(to, 16, v128s.reverse(get(this.high))),
    )
  }
}
