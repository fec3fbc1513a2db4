import { RETURN_DATA_OUT_OF_BOUNDS } from './failures.js'
import type { Frame } from './frame.js'
import { countWork, type Machine, payMemory } from './machine.js'
import { accessGas, failPaid, rangeEnd, wordsOf } from './operations.js'
import { toIndex } from './words/words.js'

/* Instructions that copy to memory; same conventions as in `operations`. */

const COPY_WORD_GAS = 3

/** Copies `source` between `from` and `end` to the frame's memory, zero-filled beyond the end of the source. */
function copyToMemory(
  machine: Machine,
  to: number,
  length: number,
  source: Uint8Array,
  from: number,
  end: number,
): void {
  const { memory } = machine
  const there = Math.min(Math.max(end - from, 0), length)
  if (there > 0) {
    if (source === memory) memory.copyWithin(to, from, from + there)
    else memory.set(source.subarray(from, from + there), to)
  }
  if (there < length) memory.fill(0, to + there, to + length)
}

export function copyCallData(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const to = toIndex(stack, sp - 8)
  const from = toIndex(stack, sp - 16)
  const length = toIndex(stack, sp - 24)
  const left = payMemory(machine, frame, gas - COPY_WORD_GAS * wordsOf(length), rangeEnd(to, length))
  if (left < 0 || length === 0) return left
  countWork(machine, length)
  const { inputOffset, inputLength, memoryBase } = frame
  copyToMemory(machine, memoryBase + to, length, machine.memory, inputOffset + from, inputOffset + inputLength)
  return left
}

export function copyCode(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const to = toIndex(stack, sp - 8)
  const from = toIndex(stack, sp - 16)
  const length = toIndex(stack, sp - 24)
  const left = payMemory(machine, frame, gas - COPY_WORD_GAS * wordsOf(length), rangeEnd(to, length))
  if (left < 0 || length === 0) return left
  countWork(machine, length)
  copyToMemory(machine, frame.memoryBase + to, length, frame.code.padded, from, frame.code.length)
  return left
}

export function copyExternalCode(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack, state } = machine
  const account = state.accountOfWord(stack, sp - 8)
  const to = toIndex(stack, sp - 16)
  const from = toIndex(stack, sp - 24)
  const length = toIndex(stack, sp - 32)
  const access = accessGas(machine, account)
  const price = access + COPY_WORD_GAS * wordsOf(length)
  const left = payMemory(machine, frame, gas - price, rangeEnd(to, length))
  state.recorder?.account(account, left >= 0)
  if (left < 0) {
    machine.failedAccess = access
    return left
  }
  if (length === 0) return left
  countWork(machine, length)
  const code = state.code(account)
  copyToMemory(machine, frame.memoryBase + to, length, code.padded, from, code.length)
  return left
}

export function copyReturnData(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const to = toIndex(stack, sp - 8)
  const from = toIndex(stack, sp - 16)
  const length = toIndex(stack, sp - 24)
  const left = payMemory(machine, frame, gas - COPY_WORD_GAS * wordsOf(length), rangeEnd(to, length))
  if (left < 0) return left
  if (from + length > frame.returnLength) return failPaid(machine, frame, gas - left, RETURN_DATA_OUT_OF_BOUNDS) // EIP-211
  if (length === 0) return left
  countWork(machine, length)
  copyToMemory(machine, frame.memoryBase + to, length, frame.returnData, from, frame.returnLength)
  return left
}

export function copyMemory(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const to = toIndex(stack, sp - 8)
  const from = toIndex(stack, sp - 16)
  const length = toIndex(stack, sp - 24)
  const end = rangeEnd(Math.max(to, from), length)
  const left = payMemory(machine, frame, gas - COPY_WORD_GAS * wordsOf(length), end)
  if (left < 0 || length === 0) return left
  countWork(machine, length)
  const { memoryBase } = frame
  machine.memory.copyWithin(memoryBase + to, memoryBase + from, memoryBase + from + length)
  return left
}
