import { enter, leave } from './calls.js'
import { REVERTED_BY_CODE } from './failures.js'
import { CALLING, type Frame, HALTED, REVERTED, SUCCEEDED } from './frame.js'
import type { Hooks } from './hooks.js'
import { expansionGas, type Machine } from './machine.js'
import { wordsOf } from './operations.js'
import { reportEnd } from './reports.js'
import { runFrame } from './runFrame.js'
import { settle } from './settle.js'
import { stepFrame } from './stepFrame.js'
import { LIMBS, toIndex } from './words/words.js'

const CREATE = 0xf0
const CREATE2 = 0xf5
const HASH_WORD_GAS = 6

/** Runs a frame and all its calls, and notifies the machine's hooks. Frames run at full speed unless a hook observes
 *  instructions. Returns the final status. @throws DeadlineExceeded */
export function runTracedFrames(machine: Machine, first: Frame): number {
  const hooks = machine.hooks!
  const isStepped = hooks.step !== undefined
  let frame = first
  for (;;) {
    machine.deadline.check()
    let status = isStepped ? stepFrame(machine, frame, hooks) : runFrame(machine, frame)
    if (status === CALLING) {
      const next = isStepped ? enterStepped(machine, frame, hooks) : enter(machine, frame)
      if (next !== undefined) {
        frame = next
        continue
      }
      frame.outputLength = 0
      status = HALTED
    }
    status = settle(machine, frame, status)
    if (frame.depth === 0) return status
    const { outputOffset, outputLength } = frame
    const failure = status === SUCCEEDED ? undefined : status === REVERTED ? REVERTED_BY_CODE : frame.failure
    reportEnd(machine, frame, failure, machine.memory.slice(outputOffset, outputOffset + outputLength))
    frame = leave(machine, frame, status === SUCCEEDED, status === REVERTED)
  }
}

/** Runs `enter` and reports the cost of the instruction. */
function enterStepped(machine: Machine, frame: Frame, hooks: Hooks): Frame | undefined {
  const { callOpcode: op, gas, memorySize, sp, spilled } = frame
  const constant = machine.rules.gas[op]
  const isCreation = op === CREATE || op === CREATE2
  machine.unpaidPrice = undefined
  const creation = isCreation ? creationCost(machine, frame, { sp, memorySize }) : 0
  const next = enter(machine, frame)
  if (next === undefined) {
    // A creation that was paid for can still lack gas for its account.
    const isPaid = isCreation && frame.sp !== sp
    if (isPaid) hooks.stepped!(machine, creation, undefined)
    else hooks.stepped!(machine, BigInt(machine.rules.shownGas[op]) + (machine.unpaidPrice ?? 0n), frame.failure)
    return undefined
  }
  const paid = constant + gas - frame.gas - (frame.spilled - spilled) // without state gas
  const child = machine.frames[frame.depth + 1]
  // The price of a creation excludes the gas passed on. That of a call includes it, even if no code ran and it came
  // back.
  if (isCreation) hooks.stepped!(machine, creation, undefined)
  else hooks.stepped!(machine, next === frame ? paid + child.gas : paid, undefined)
  return next
}

/** Gas of a creation without the gas passed on. */
function creationCost(
  { rules, stack }: Machine,
  frame: Frame,
  { sp, memorySize }: { sp: number; memorySize: number },
): number {
  const { callOpcode: op } = frame
  const length = toIndex(stack, sp - 3 * LIMBS)
  const end = length === 0 ? 0 : toIndex(stack, sp - 2 * LIMBS) + length
  const wordGas = rules.initCodeWordGas + (op === CREATE2 ? HASH_WORD_GAS : 0)
  return rules.gas[op] + wordGas * wordsOf(length) + expansionGas({ memorySize, memoryBase: frame.memoryBase }, end)
}
