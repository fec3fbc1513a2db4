import { copyCallData, copyCode, copyExternalCode, copyMemory, copyReturnData } from './copies.js'
import { deepStack } from './deepStack.js'
import {
  BASE_FEE,
  BLOB_BASE_FEE,
  CHAIN_ID,
  COINBASE,
  DIFFICULTY,
  GAS_LIMIT,
  GAS_PRICE,
  NUMBER,
  ORIGIN,
  SLOT_NUMBER,
  TIMESTAMP,
} from './environment.js'
import { WRITE_PROTECTION, WRITE_PROTECTION_WHILE_PRICING } from './failures.js'
import type { Frame } from './frame.js'
import { type Machine, payMemory } from './machine.js'
import { instructionsOf } from './opcodes.js'
import {
  balanceOf,
  blobHash,
  blockHash,
  destruct,
  exponent,
  externalCodeHash,
  externalCodeSize,
  hashMemory,
  loadCallData,
  loadStorage,
  log,
  selfBalance,
  setOutput,
  storeByte,
  storeStorage,
} from './operations.js'
import { add, isLess, isLessSigned, sub } from './words/addition.js'
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
} from './words/bits.js'
import { addModulo, divide, divideSigned, modulo, moduloSigned, multiply, multiplyModulo } from './words/multiply.js'
import {
  copyWord,
  isZeroWord,
  LIMBS,
  loadWord,
  sameWords,
  setBigInt,
  setBytes,
  setNumber,
  setSmall,
  storeWord,
  swapWords,
  toIndex,
  type Words,
} from './words/words.js'

/** Executes one instruction for `stepFrame`, with the conventions of `operations`: `gas` is what is left after the
 *  constant part. Returns the gas left; negative if it was not enough or `frame.failure` has another reason. */
export type Step = (machine: Machine, frame: Frame, gas: number, sp: number) => number

type Binary = (stack: Words, a: number, b: number) => void

const unary =
  (run: (stack: Words, a: number) => void): Step =>
  ({ stack }, _, gas, sp) => {
    run(stack, sp - 8)
    return gas
  }

const binary =
  (run: Binary): Step =>
  ({ stack }, _, gas, sp) => {
    run(stack, sp - 8, sp - 16)
    return gas
  }

const ternary =
  (run: (stack: Words, a: number, b: number, c: number) => void): Step =>
  ({ stack }, _, gas, sp) => {
    run(stack, sp - 8, sp - 16, sp - 24)
    return gas
  }

const comparison =
  (holds: (stack: Words, a: number, b: number) => boolean): Step =>
  ({ stack }, _, gas, sp) => {
    setSmall(stack, sp - 16, holds(stack, sp - 8, sp - 16) ? 1 : 0)
    return gas
  }

const push =
  (write: (machine: Machine, frame: Frame, sp: number, gas: number) => void): Step =>
  (machine, frame, gas, sp) => {
    write(machine, frame, sp, gas)
    return gas
  }

const pushEnvironment = (offset: number): Step =>
  push(({ environment, stack }, _, sp) => copyWord(environment.words, offset, stack, sp))

const pushNumber = (value: (machine: Machine, frame: Frame) => number): Step =>
  push((machine, frame, sp) => setNumber(machine.stack, sp, value(machine, frame)))

/** Wraps an instruction that changes the state: fails in a static frame. */
const writing =
  (step: Step): Step =>
  (machine, frame, gas, sp) => {
    if (!frame.isStatic) return step(machine, frame, gas, sp)
    frame.failure = WRITE_PROTECTION_WHILE_PRICING
    return -1
  }

const storeTransient: Step = ({ state, stack }, frame, gas, sp) => {
  if (frame.isStatic) frame.failure = WRITE_PROTECTION
  else state.writeTransient(frame.account, stack, sp - 8, sp - 16)
  return gas
}

const free: Step = (_machine, _frame, gas) => gas

/** An instruction on the memory word whose offset is on top of the stack. */
const atMemory =
  (run: (machine: Machine, offset: number, sp: number) => void): Step =>
  (machine, frame, gas, sp) => {
    const offset = toIndex(machine.stack, sp - 8)
    const left = payMemory(machine, frame, gas, offset + 32)
    if (left >= 0) run(machine, frame.memoryBase + offset, sp)
    return left
  }

const deep =
  (opcode: number): Step =>
  ({ stack }, frame, gas, sp) => {
    frame.failure = deepStack(opcode, frame.code.padded[frame.pc], stack, frame.stackBase, sp)
    frame.pc++
    return gas
  }

const STEPS: Record<number, Step> = {
  1: binary(add),
  2: binary(multiply),
  3: binary(sub),
  4: binary(divide),
  5: binary(divideSigned),
  6: binary(modulo),
  7: binary(moduloSigned),
  8: ternary(addModulo),
  9: ternary(multiplyModulo),
  10: (machine, _, gas, sp) => exponent(machine, gas, sp),
  11: binary(signExtend),
  16: comparison(isLess),
  17: comparison((stack, a, b) => isLess(stack, b, a)),
  18: comparison(isLessSigned),
  19: comparison((stack, a, b) => isLessSigned(stack, b, a)),
  20: comparison((stack, a, b) => sameWords(stack, a, stack, b)),
  21: unary((stack, a) => setSmall(stack, a, isZeroWord(stack, a) ? 1 : 0)),
  22: binary(and),
  23: binary(or),
  24: binary(xor),
  25: unary(not),
  26: binary(byteAt),
  27: binary(shiftLeft),
  28: binary(shiftRight),
  29: binary(shiftRightSigned),
  30: unary(countLeadingZeros),
  32: hashMemory,
  48: push(({ stack }, { account }, sp) => copyWord(account.word, 0, stack, sp)),
  49: (machine, _, gas, sp) => balanceOf(machine, gas, sp),
  50: pushEnvironment(ORIGIN),
  51: push(({ stack }, { caller }, sp) => copyWord(caller, 0, stack, sp)),
  52: push(({ stack }, { value }, sp) => copyWord(value, 0, stack, sp)),
  53: push(loadCallData),
  54: pushNumber((_, { inputLength }) => inputLength),
  55: copyCallData,
  56: pushNumber((_, { code }) => code.length),
  57: copyCode,
  58: pushEnvironment(GAS_PRICE),
  59: (machine, _, gas, sp) => externalCodeSize(machine, gas, sp),
  60: copyExternalCode,
  61: pushNumber((_, { returnLength }) => returnLength),
  62: copyReturnData,
  63: (machine, _, gas, sp) => externalCodeHash(machine, gas, sp),
  64: push((machine, _, sp) => blockHash(machine, sp)),
  65: pushEnvironment(COINBASE),
  66: pushEnvironment(TIMESTAMP),
  67: pushEnvironment(NUMBER),
  68: pushEnvironment(DIFFICULTY),
  69: pushEnvironment(GAS_LIMIT),
  70: pushEnvironment(CHAIN_ID),
  71: push(selfBalance),
  72: pushEnvironment(BASE_FEE),
  73: push((machine, _, sp) => blobHash(machine, sp)),
  74: pushEnvironment(BLOB_BASE_FEE),
  75: pushEnvironment(SLOT_NUMBER),
  80: free, // POP
  81: atMemory(({ view, stack }, at, sp) => loadWord(view, at, stack, sp - 8)),
  82: atMemory(({ view, stack }, at, sp) => storeWord(view, at, stack, sp - 16)),
  83: storeByte,
  84: loadStorage,
  85: writing(storeStorage),
  88: pushNumber((_, { pc }) => pc - 1),
  89: pushNumber((_, { memorySize }) => memorySize),
  90: push(({ stack }, { gasBeyond }, sp, gas) => setBigInt(stack, sp, BigInt(gas) + gasBeyond)),
  91: free, // JUMPDEST
  92: push(({ state, stack }, { account }, sp) => state.readTransient(account, stack, sp - 8, sp - 8)),
  93: storeTransient,
  94: copyMemory,
  95: push(({ stack }, _, sp) => setSmall(stack, sp, 0)),
  230: deep(0xe6),
  231: deep(0xe7),
  232: deep(0xe8),
  243: setOutput, // RETURN
  253: setOutput, // REVERT
  255: writing(destruct),
}

for (let n = 1; n <= 32; n++) {
  STEPS[0x5f + n] = ({ stack }, frame, gas, sp) => {
    setBytes(stack, sp, frame.code.padded, frame.pc, n)
    frame.pc += n
    return gas
  }
}
for (let n = 1; n <= 16; n++) {
  STEPS[0x7f + n] = ({ stack }, _, gas, sp) => {
    copyWord(stack, sp - n * LIMBS, stack, sp)
    return gas
  }
  STEPS[0x8f + n] = ({ stack }, _, gas, sp) => {
    swapWords(stack, sp - LIMBS, sp - (n + 1) * LIMBS)
    return gas
  }
}
for (let n = 0; n <= 4; n++) STEPS[0xa0 + n] = (machine, frame, gas, sp) => log(machine, frame, gas, sp, n)

/** Instructions by opcode. Those that `stepFrame` and `tracedFrames` run themselves are undefined: STOP, jumps, calls
 *  and creations, and unassigned opcodes. */
export const STEP_TABLE: readonly (Step | undefined)[] = Array.from({ length: 256 }, (_, opcode) => STEPS[opcode])

/** Limbs by which each instruction changes the stack's height. */
export const STACK_CHANGE: Int32Array = Int32Array.from(
  instructionsOf(() => true),
  (instruction) => (instruction === undefined ? 0 : (instruction.pushes - instruction.pops) * LIMBS),
)
