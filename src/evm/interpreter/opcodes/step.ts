import { WRITE_PROTECTION_WHILE_PRICING } from '../failures.js'
import type { Frame } from '../frame.js'
import type { Machine } from '../machine.js'
import { setNumber, type Words } from '../words/words.js'

/** Executes one instruction. `gas` is what is left after the constant part; `sp` is the stack pointer before the
 *  instruction. Operands are at sp - 8, sp - 16 and so on; the result replaces the last operand. The loop changes the
 *  stack's height. Returns the gas left; negative if it was not enough, or if the instruction failed. `frame.failure`
 *  has the reason unless that is gas. */
export type Step = (machine: Machine, frame: Frame, gas: number, sp: number) => number

/** The instructions of a family by mnemonic. */
export interface Steps {
  readonly [mnemonic: string]: Step
}

/** An instruction that computes with the words at some places of the stack. */
export const onStack =
  (run: (stack: Words, sp: number) => void): Step =>
  ({ stack }, _, gas, sp) => {
    run(stack, sp)
    return gas
  }

/** An instruction without dynamic gas. */
export const free =
  (run: (machine: Machine, frame: Frame, sp: number) => void): Step =>
  (machine, frame, gas, sp) => {
    run(machine, frame, sp)
    return gas
  }

/** Pushes a number below 2^53. */
export const pushNumber = (value: (machine: Machine, frame: Frame) => number): Step =>
  free((machine, frame, sp) => setNumber(machine.stack, sp, value(machine, frame)))

/** Fails an instruction after it was paid for. Returns -1, as if no gas were left. */
export function failPaid(machine: Machine, frame: Frame, price: number, failure: string): number {
  machine.failedPrice = price
  frame.failure = failure
  return -1
}

/** Wraps an instruction that changes the state: fails in a static frame. */
export const notStatic =
  (step: Step): Step =>
  (machine, frame, gas, sp) => {
    if (!frame.isStatic) return step(machine, frame, gas, sp)
    frame.failure = WRITE_PROTECTION_WHILE_PRICING
    return -1
  }
