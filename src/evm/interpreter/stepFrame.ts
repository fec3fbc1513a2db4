import { jumpTargets } from './code.js'
import {
  INVALID_JUMP,
  invalidOpcode,
  OUT_OF_GAS,
  RETURN_DATA_OUT_OF_BOUNDS,
  stackFailure,
  WRITE_PROTECTION,
} from './failures.js'
import { CALLING, type Frame, REVERTED, SUCCEEDED } from './frame.js'
import type { Hooks } from './hooks.js'
import type { Machine } from './machine.js'
import { halt } from './runFrame.js'
import { shortageOf } from './shortage.js'
import { STACK_CHANGE, STEP_TABLE } from './steps.js'
import { isZeroWord, LIMBS, toIndex } from './words/words.js'

const JUMP = 0x56
const JUMPI = 0x57
const RETURN = 0xf3
const REVERT = 0xfd
const SELFDESTRUCT = 0xff

/** Steps between two deadline checks. */
const CHECK_STEPS = 256

/** Runs a frame like `runFrame`, one instruction at a time, and reports each to the hooks. `runTracedFrames` reports
 *  the cost of a call. @throws DeadlineExceeded. */
export function stepFrame(machine: Machine, frame: Frame, hooks: Hooks): number {
  const { rules, stack } = machine
  const { gas: gasOf, shownGas, need, room } = rules
  const { padded: code, length } = frame.code
  if (length === 0) return SUCCEEDED // no instruction to report
  for (let steps = 1; ; steps++) {
    if (steps % CHECK_STEPS === 0) machine.deadline.check()
    const { sp, gas } = frame
    const op = code[frame.pc]
    hooks.step!(machine, frame, op)
    const fail = (failure: string) => {
      hooks.stepped!(machine, shownGas[op], failure)
      return halt(frame, failure)
    }
    const height = sp - frame.stackBase
    if (height < need[op] || height > room[op]) {
      return fail(stackFailure(height / LIMBS, need[op] / LIMBS, room[op] / LIMBS))
    }
    if (gasOf[op] === Infinity) {
      hooks.stepped!(machine, 0, undefined) // geth runs it, and it fails
      return halt(frame, invalidOpcode(op))
    }
    if (gas < shownGas[op]) return fail(OUT_OF_GAS)
    let left = gas - gasOf[op]
    frame.pc++
    const step = STEP_TABLE[op]
    if (step === undefined) {
      frame.gas = left
      if (op === JUMP || op === JUMPI) {
        hooks.stepped!(machine, gasOf[op], undefined)
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
    machine.failedPrice = undefined
    const { spilled } = frame
    left = step(machine, frame, left, sp)
    if (left < 0 || frame.failure !== '') return haltStep(machine, frame, hooks, { op, sp, used: gas - left })
    // The cost excludes state gas, as in geth.
    hooks.stepped!(machine, gas - left - (frame.spilled - spilled), undefined)
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

/** Halts the frame at a failed instruction and reports its cost: `used`, unless that is unknown. */
function haltStep(
  machine: Machine,
  frame: Frame,
  hooks: Hooks,
  { op, sp, used }: { op: number; sp: number; used: number },
): number {
  const { gas: gasOf, shownGas } = machine.rules
  let cost: number | bigint = used
  if (frame.failure === '') {
    const { failure, price } =
      used === Infinity
        ? shortageOf(machine, frame, op, sp, machine.failedAccess)
        : { failure: OUT_OF_GAS, price: undefined }
    frame.failure = failure
    if (used === Infinity) cost = price === undefined ? shownGas[op] : BigInt(gasOf[op]) + price
  } else if (machine.failedPrice !== undefined) cost = gasOf[op] + machine.failedPrice
  else if (used > frame.gas) cost = shownGas[op]
  const isPaid = used <= frame.gas || frame.failure === WRITE_PROTECTION || frame.failure === RETURN_DATA_OUT_OF_BOUNDS
  hooks.stepped!(machine, cost, isPaid ? undefined : frame.failure)
  return halt(frame, frame.failure)
}

function isJumpTarget({ code }: Frame, target: number): boolean {
  return target < code.length && ((jumpTargets(code)[target >>> 5] >>> (target & 31)) & 1) !== 0
}
