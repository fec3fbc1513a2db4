import { CREATE, CREATE2 } from '../../chain/eth/callOpcodes.js'
import { enter } from './calls.js'
import { OUT_OF_GAS, RETURN_DATA_OUT_OF_BOUNDS, WRITE_PROTECTION } from './failures.js'
import type { Frame } from './frame.js'
import type { Hooks } from './hooks.js'
import { expansionGas, type Machine } from './machine.js'
import { wordsOf } from './opcodes/memory.js'
import { shortageOf } from './shortage.js'
import { LIMBS, toIndex } from './words/words.js'

const HASH_WORD_GAS = 6

/** Reports the cost of an instruction that failed, and sets why: `used`, unless that is unknown. */
export function reportFailure(
  machine: Machine,
  frame: Frame,
  hooks: Hooks,
  { op, sp, used }: { op: number; sp: number; used: number },
): void {
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
}

/** Runs `enter` and reports the cost of the instruction. */
export function enterStepped(machine: Machine, frame: Frame, hooks: Hooks): Frame | undefined {
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
