import type { Frame } from '../frame.js'
import { countWork, type Machine } from '../machine.js'
import { add, isLess, isLessSigned, sub } from '../words/addition.js'
import {
  and,
  byteAt,
  countLeadingZeros,
  not,
  or,
  shiftLeft,
  shiftRight,
  shiftRightSigned,
  signExtend,
  xor,
} from '../words/bits.js'
import {
  addModulo,
  divide,
  divideSigned,
  exponentiate,
  modulo,
  moduloSigned,
  multiply,
  multiplyModulo,
} from '../words/multiply.js'
import { isZeroWord, sameWords, setSmall, usedBytes, type Words } from '../words/words.js'
import { onStack, type Step, type Steps } from './step.js'

// A byte of an exponent takes eight to sixteen multiplications: 32 of them take 120 µs.
const EXPONENT_BYTE_WORK = 1024

const binary = (run: (stack: Words, a: number, b: number) => void): Step =>
  onStack((stack, sp) => run(stack, sp - 8, sp - 16))

const ternary = (run: (stack: Words, a: number, b: number, c: number) => void): Step =>
  onStack((stack, sp) => run(stack, sp - 8, sp - 16, sp - 24))

const comparison = (holds: (stack: Words, a: number, b: number) => boolean): Step =>
  onStack((stack, sp) => setSmall(stack, sp - 16, holds(stack, sp - 8, sp - 16) ? 1 : 0))

/** Arithmetic, comparisons and bits. */
export const ARITHMETIC: Steps = {
  ADD: binary(add),
  MUL: binary(multiply),
  SUB: binary(sub),
  DIV: binary(divide),
  SDIV: binary(divideSigned),
  MOD: binary(modulo),
  SMOD: binary(moduloSigned),
  ADDMOD: ternary(addModulo),
  MULMOD: ternary(multiplyModulo),
  EXP: exponent,
  SIGNEXTEND: binary(signExtend),
  LT: comparison(isLess),
  GT: comparison((stack, a, b) => isLess(stack, b, a)),
  SLT: comparison(isLessSigned),
  SGT: comparison((stack, a, b) => isLessSigned(stack, b, a)),
  EQ: comparison((stack, a, b) => sameWords(stack, a, stack, b)),
  ISZERO: onStack((stack, sp) => setSmall(stack, sp - 8, isZeroWord(stack, sp - 8) ? 1 : 0)),
  AND: binary(and),
  OR: binary(or),
  XOR: binary(xor),
  NOT: onStack((stack, sp) => not(stack, sp - 8)),
  BYTE: binary(byteAt),
  SHL: binary(shiftLeft),
  SHR: binary(shiftRight),
  SAR: binary(shiftRightSigned),
  CLZ: onStack((stack, sp) => countLeadingZeros(stack, sp - 8)),
}

function exponent(machine: Machine, _frame: Frame, gas: number, sp: number): number {
  const { stack, rules } = machine
  const bytes = usedBytes(stack, sp - 16)
  const left = gas - rules.expByteGas * bytes
  if (left < 0) return left
  countWork(machine, EXPONENT_BYTE_WORK * bytes)
  exponentiate(stack, sp - 8, sp - 16)
  return left
}
