import { keccak256 } from '../../../chain/crypto.js'
import { RETURN_DATA_OUT_OF_BOUNDS } from '../failures.js'
import type { Frame } from '../frame.js'
import { countWork, LOOPED_BYTES, type Machine, payMemory } from '../machine.js'
import { loadWord, setBytes, storeWord, toIndex } from '../words/words.js'
import { accessGas } from './accounts.js'
import { failPaid, pushNumber, type Step, type Steps } from './step.js'

const COPY_WORD_GAS = 3
const HASH_WORD_GAS = 6

/** An instruction on the memory word whose offset is on top of the stack. */
const atMemory =
  (run: (machine: Machine, offset: number, sp: number) => void): Step =>
  (machine, frame, gas, sp) => {
    const offset = toIndex(machine.stack, sp - 8)
    const left = payMemory(machine, frame, gas, offset + 32)
    if (left >= 0) run(machine, frame.memoryBase + offset, sp)
    return left
  }

/** Memory, and what is copied to it. */
export const MEMORY: Steps = {
  KECCAK256: hashMemory,
  CALLDATACOPY: copyCallData,
  CODECOPY: copyCode,
  EXTCODECOPY: copyExternalCode,
  RETURNDATACOPY: copyReturnData,
  MLOAD: atMemory(({ view, stack }, at, sp) => loadWord(view, at, stack, sp - 8)),
  MSTORE: atMemory(({ view, stack }, at, sp) => storeWord(view, at, stack, sp - 16)),
  MSTORE8: storeByte,
  MSIZE: pushNumber((_, { memorySize }) => memorySize),
  MCOPY: copyMemory,
}

/** End of a memory range; 0 for an empty one. */
export function rangeEnd(offset: number, length: number): number {
  return length === 0 ? 0 : offset + length
}

/** Words needed for that many bytes. */
export const wordsOf = (length: number) => Math.ceil(length / 32)

function hashMemory(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const length = toIndex(stack, sp - 16)
  const left = payMemory(machine, frame, gas - HASH_WORD_GAS * wordsOf(length), rangeEnd(offset, length))
  if (left < 0) return left
  countWork(machine, length)
  const from = frame.memoryBase + offset
  const hash = keccak256(length === 0 ? machine.memory.subarray(0, 0) : machine.memory.subarray(from, from + length))
  setBytes(stack, sp - 16, hash, 0, 32)
  return left
}

function storeByte(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const left = payMemory(machine, frame, gas, offset + 1)
  if (left >= 0) machine.memory[frame.memoryBase + offset] = stack[sp - 16]
  return left
}

/** Copies `source` between `from` and `end` to the frame's memory, zero-filled beyond the end of the source. What is
 *  copied does not overlap it. */
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
  if (length <= LOOPED_BYTES) {
    for (let i = 0; i < there; i++) memory[to + i] = source[from + i]
    for (let i = there; i < length; i++) memory[to + i] = 0
    return
  }
  if (there > 0) {
    if (source === memory) memory.copyWithin(to, from, from + there)
    else memory.set(source.subarray(from, from + there), to)
  }
  if (there < length) memory.fill(0, to + there, to + length)
}

function copyCallData(machine: Machine, frame: Frame, gas: number, sp: number): number {
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

function copyCode(machine: Machine, frame: Frame, gas: number, sp: number): number {
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

function copyExternalCode(machine: Machine, frame: Frame, gas: number, sp: number): number {
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
  // Read for no bytes too: the witness of the block has it (execution-specs, `extcodecopy`).
  const code = state.code(account)
  if (length === 0) return left
  countWork(machine, length)
  copyToMemory(machine, frame.memoryBase + to, length, code.padded, from, code.length)
  return left
}

function copyReturnData(machine: Machine, frame: Frame, gas: number, sp: number): number {
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

function copyMemory(machine: Machine, frame: Frame, gas: number, sp: number): number {
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
