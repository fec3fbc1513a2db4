import { instantiate } from '../../../wasm/assembler.js'
import { type Code, jumpTargets } from '../code.js'
import type { Frame } from '../frame.js'
import type { EvmRules } from '../rules.js'
import type { Words } from '../words/words.js'
import { CODES, CODES_END, INSTRUCTIONS, MEMORIES, MEMORIES_BYTES, REGISTERS, STACKS, STACKS_LIMBS } from './layout.js'
import { assembleWasmCore, wasmOpcodes } from './module.js'

/** The WebAssembly module and its memory. One per thread, because nothing in it outlives a message. */
export interface WasmCore {
  /** Stacks and memories of frames in the module's memory; larger ones are elsewhere. */
  readonly stack: Words
  readonly memory: Uint8Array
  readonly view: DataView
  /** Prepares a run of a frame whose stack is the one above. False if its code is too long. */
  enter(frame: Frame, rules: EvmRules): boolean
  /** Sets the size of the frame's memory, and whether it and the calldata are in the memory above. `maxBytes` is that
   *  of all frames' memories up to which `run` may extend it. */
  setMemory(frame: Frame, isHere: boolean, maxBytes: number): void
  /** Executes instructions from `pc` until one that it leaves to `runFrame`; returns the gas left. The registers have
   *  that instruction's offset, the stack pointer and the size of the frame's memory. */
  run(pc: number, sp: number, gas: number, checkAt: number): number
  readonly registers: Int32Array
}

/** Register indexes of the results of `run`. */
export const PC = REGISTERS.pc >> 2
export const SP = REGISTERS.sp >> 2
export const MEMORY_SIZE = REGISTERS.memorySize >> 2

interface LoopFunctions {
  run(pc: number, sp: number, gas: number, checkAt: number): number
}

let ofThread: WasmCore | undefined | null = null

/** The module of this thread; undefined without WebAssembly or without 128-bit SIMD. */
export function wasmCoreOfThread(): WasmCore | undefined {
  if (ofThread === null) {
    try {
      ofThread = createWasmCore()
    } catch {
      ofThread = undefined
    }
  }
  return ofThread
}

function createWasmCore(): WasmCore {
  const exports = instantiate<LoopFunctions>(assembleWasmCore())
  const { buffer } = exports.memory
  const registers = new Int32Array(buffer, 0, 32)
  const writeInstructions = createInstructionTable(buffer)
  const place = createCodeSlots(new Uint8Array(buffer))
  let rulesWritten: EvmRules | undefined
  return {
    stack: new Int32Array(buffer, STACKS, STACKS_LIMBS),
    memory: new Uint8Array(buffer, MEMORIES, MEMORIES_BYTES),
    view: new DataView(buffer, MEMORIES, MEMORIES_BYTES),
    registers,
    enter(frame, rules) {
      const { code } = frame
      const at = place(code)
      if (at < 0) return false
      if (rules !== rulesWritten) {
        writeInstructions(rules)
        registers[REGISTERS.expByteGas >> 2] = rules.expByteGas
        rulesWritten = rules
      }
      registers[REGISTERS.stackBase >> 2] = frame.stackBase
      registers[REGISTERS.code >> 2] = at
      registers[REGISTERS.targets >> 2] = at + code.padded.length
      registers[REGISTERS.codeLength >> 2] = code.length
      registers[REGISTERS.memory >> 2] = MEMORIES + frame.memoryBase
      registers[REGISTERS.input >> 2] = MEMORIES + frame.inputOffset
      registers[REGISTERS.inputLength >> 2] = frame.inputLength
      registers[REGISTERS.returnLength >> 2] = frame.returnLength
      registers[REGISTERS.gasBeyond >> 2] = frame.gasBeyond === 0n ? 0 : 1
      return true
    },
    setMemory({ memorySize, memoryBase, inputLength }, isHere, maxBytes) {
      registers[MEMORY_SIZE] = memorySize
      registers[REGISTERS.memoryRoom >> 2] = isHere ? Math.max(Math.min(maxBytes, MEMORIES_BYTES) - memoryBase, 0) : 0
      registers[REGISTERS.memoryTop >> 2] = isHere ? topOf(memorySize) : 0
      registers[REGISTERS.inputTop >> 2] = isHere ? topOf(inputLength) : 0
    },
    run: exports.run,
  }
}

/** Number of offsets at which 32 bytes fit into `size`. */
function topOf(size: number): number {
  return size < 32 ? 0 : size - 31
}

/** Writes gas and stack limits of a fork's instructions. */
function createInstructionTable(buffer: ArrayBuffer): (rules: EvmRules) => void {
  const table = new Int32Array(buffer, INSTRUCTIONS, 256 * 4)
  const executed = wasmOpcodes()
  return ({ gas, need, room }) => {
    for (let op = 0; op < 256; op++) {
      const isIn = executed.has(op) && gas[op] !== Infinity
      // An unreachable stack requirement makes the module leave the instruction.
      table[4 * op] = isIn ? 4 * need[op] : 0x4000_0000
      table[4 * op + 1] = isIn ? 4 * (room[op] - need[op]) : 0
      table[4 * op + 2] = isIn ? gas[op] : 0
      table[4 * op + 3] = 0
    }
  }
}

// Longer code than forks since Spurious Dragon allow is not worth copying.
const LONGEST_CODE = 0x4_0000

/** Copies code and its jump targets into the module's memory, where they stay until it is full and everything is
 *  dropped. */
function createCodeSlots(memory: Uint8Array): (code: Code) => number {
  let epoch = 1
  let next = CODES
  return (code) => {
    if (code.placedIn === epoch) return code.place
    const { padded } = code
    if (padded.length > LONGEST_CODE) return -1
    const targets = jumpTargets(code)
    const size = padded.length + targets.byteLength
    if (next + size > CODES_END) {
      epoch++
      next = CODES
    }
    memory.set(padded, next)
    memory.set(new Uint8Array(targets.buffer, targets.byteOffset, targets.byteLength), next + padded.length)
    code.place = next
    code.placedIn = epoch
    next += size
    return code.place
  }
}
