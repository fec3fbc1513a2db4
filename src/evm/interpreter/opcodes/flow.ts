import { jumpTargets } from '../code.js'
import { INVALID_JUMP } from '../failures.js'
import type { Frame } from '../frame.js'
import { type Machine, payMemory } from '../machine.js'
import { isZeroWord, setBigInt, setNumber, toIndex } from '../words/words.js'
import { rangeEnd } from './memory.js'
import { onStack, pushNumber, type Steps } from './step.js'

/** Jumps, and instructions that end the frame. */
export const FLOW: Steps = {
  STOP: endWithoutOutput,
  JUMP: jump,
  JUMPI: (machine, frame, gas, sp) => (isZeroWord(machine.stack, sp - 16) ? gas : jump(machine, frame, gas, sp)),
  PC: pushNumber((_, { pc }) => pc - 1),
  GAS: pushGas,
  JUMPDEST: onStack(() => {}),
  RETURN: setOutput,
  REVERT: setOutput,
}

function endWithoutOutput(_machine: Machine, frame: Frame, gas: number): number {
  frame.outputLength = 0
  return gas
}

function jump({ stack }: Machine, frame: Frame, gas: number, sp: number): number {
  const { code } = frame
  const target = toIndex(stack, sp - 8)
  if (target < code.length && ((jumpTargets(code)[target >>> 5] >>> (target & 31)) & 1) !== 0) frame.pc = target
  else frame.failure = INVALID_JUMP
  return gas
}

function pushGas({ stack }: Machine, { gasBeyond }: Frame, gas: number, sp: number): number {
  if (gasBeyond === 0n) setNumber(stack, sp, gas)
  else setBigInt(stack, sp, BigInt(gas) + gasBeyond)
  return gas
}

/** RETURN and REVERT. */
function setOutput(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const length = toIndex(stack, sp - 16)
  const left = payMemory(machine, frame, gas, rangeEnd(offset, length))
  frame.outputOffset = length === 0 ? 0 : frame.memoryBase + offset
  frame.outputLength = length
  return left
}
