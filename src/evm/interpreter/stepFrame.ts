import { jumpTargets } from './code.js'
import { INVALID_JUMP, invalidOpcode, OUT_OF_GAS, stackFailure } from './failures.js'
import { CALLING, type Frame, REVERTED, SUCCEEDED } from './frame.js'
import type { Hooks } from './hooks.js'
import type { Machine } from './machine.js'
import { halt } from './runFrame.js'
import { STACK_CHANGE, STEP_TABLE } from './steps.js'
import { isZeroWord, LIMBS, toIndex } from './words/words.js'

const JUMP = 0x56
const JUMPI = 0x57
const RETURN = 0xf3
const REVERT = 0xfd
const SELFDESTRUCT = 0xff

// Their whole price is dynamic in geth: a lack of gas is reported with all of it.
const EXP = 0x0a
const LOG0 = 0xa0
const LOG4 = 0xa4

/** Steps between two deadline checks. */
const CHECK_STEPS = 256

/** Runs a frame like `runFrame`, one instruction at a time, and tells the hooks of each. The instruction of a call is left
 *  announced: `runTracedFrames` says what it cost. @throws DeadlineExceeded. */
export function stepFrame(machine: Machine, frame: Frame, hooks: Hooks): number {
  const { rules, stack } = machine
  const { gas: gasOf, need, room } = rules
  const { padded: code, length } = frame.code
  if (length === 0) return SUCCEEDED // no instruction that could be announced
  for (let steps = 1; ; steps++) {
    if (steps % CHECK_STEPS === 0) machine.deadline.check()
    const { sp, gas } = frame
    const op = code[frame.pc]
    hooks.step!(machine, frame, op)
    const fail = (cost: number, failure: string) => {
      hooks.stepped!(machine, cost, failure)
      return halt(frame, failure)
    }
    const height = sp - frame.stackBase
    const constant = gasOf[op] === Infinity ? 0 : gasOf[op]
    if (height < need[op] || height > room[op]) {
      return fail(constant, stackFailure(height / LIMBS, need[op] / LIMBS, room[op] / LIMBS))
    }
    if (gasOf[op] === Infinity) {
      hooks.stepped!(machine, 0, undefined) // geth has it run and fail
      return halt(frame, invalidOpcode(op))
    }
    let left = gas - constant
    if (left < 0 && op !== EXP && (op < LOG0 || op > LOG4)) return fail(constant, OUT_OF_GAS)
    frame.pc++
    const step = STEP_TABLE[op]
    if (step === undefined) {
      frame.gas = left
      if (op === JUMP || op === JUMPI) {
        hooks.stepped!(machine, constant, undefined)
        frame.sp = sp + STACK_CHANGE[op]
        if (op === JUMPI && isZeroWord(stack, sp - 16)) continue
        const target = toIndex(stack, sp - 8)
        if (!isJumpTarget(frame, target)) return halt(frame, INVALID_JUMP)
        frame.pc = target
        continue
      }
      if (op !== 0) {
        frame.callOpcode = op
        return CALLING
      }
      hooks.stepped!(machine, 0, undefined)
      frame.outputLength = 0
      return SUCCEEDED
    }
    left = step(machine, frame, left, sp)
    // A failure that an instruction sets is one of its execution, after its gas was paid.
    if (frame.failure !== '') {
      hooks.stepped!(machine, left < 0 ? constant : gas - left, undefined)
      return halt(frame, frame.failure)
    }
    if (left < 0) return fail(left === -Infinity ? constant : gas - left, OUT_OF_GAS)
    hooks.stepped!(machine, gas - left, undefined)
    frame.gas = left
    frame.sp = sp + STACK_CHANGE[op]
    if (op === RETURN) return SUCCEEDED
    if (op === REVERT) return REVERTED
    if (op === SELFDESTRUCT) {
      frame.outputLength = 0
      return SUCCEEDED
    }
  }
}

function isJumpTarget({ code }: Frame, target: number): boolean {
  return target < code.length && ((jumpTargets(code)[target >>> 5] >>> (target & 31)) & 1) !== 0
}
