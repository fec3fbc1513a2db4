import { instantiate } from '../../../wasm/assembler.js'
import { type Code, jumpTargets } from '../code.js'
import type { Frame } from '../frame.js'
import type { EvmRules } from '../rules.js'
import type { Words } from '../words/words.js'
import { CODES, CODES_END, INSTRUCTIONS, MEMORIES, MEMORIES_BYTES, REGISTERS, STACKS, STACKS_LIMBS } from './layout.js'
import { assembleLoop, loopInstructions } from './module.js'

/** The loop in WebAssembly, and what it works on. There is one for each thread, since nothing in it outlives a message. */
export interface Loop {
  /** Stacks and memories of frames that the loop can work on; what outgrows them lies elsewhere. */
  readonly stack: Words
  readonly memory: Uint8Array
  readonly view: DataView
  /** Readies the loop for a frame whose stack is the one above. False when its code is too long for it. */
  enter(frame: Frame, rules: EvmRules): boolean
  /** Tells the loop how large the frame's memory is, and whether it and the call data are in the memory above. */
  setMemory(frame: Frame, isHere: boolean): void
  /** Executes instructions from `pc` on, until it comes to one that it leaves to `execute`: the gas that is left. Where
   *  that instruction is, and where the stack ends, is in the registers. */
  run(pc: number, sp: number, gas: number, checkAt: number): number
  readonly registers: Int32Array
}

/** Indexes of what `run` leaves in the registers. */
export const PC = REGISTERS.pc >> 2
export const SP = REGISTERS.sp >> 2

interface LoopFunctions {
  run(pc: number, sp: number, gas: number, checkAt: number): number
}

let ofThread: Loop | undefined | null = null

/** The loop of this thread; undefined where there is no WebAssembly, or none that works on 16 bytes at once. */
export function loopOfThread(): Loop | undefined {
  if (ofThread === null) {
    try {
      ofThread = createLoop()
    } catch {
      ofThread = undefined
    }
  }
  return ofThread
}

function createLoop(): Loop {
  const exports = instantiate<LoopFunctions>(assembleLoop())
  const { buffer } = exports.memory
  const registers = new Int32Array(buffer, 0, 32)
  const writeInstructions = createInstructionTable(buffer)
  const place = createCodePlaces(new Uint8Array(buffer))
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
    setMemory({ memorySize, inputLength }, isHere) {
      registers[REGISTERS.memorySize >> 2] = memorySize
      registers[REGISTERS.memoryTop >> 2] = isHere ? topOf(memorySize) : 0
      registers[REGISTERS.inputTop >> 2] = isHere ? topOf(inputLength) : 0
    },
    run: exports.run,
  }
}

/** How many offsets there are at which 32 bytes of so many begin. */
function topOf(size: number): number {
  return size < 32 ? 0 : size - 31
}

/** Writes the prices of a fork's instructions, and how many words they need and have room for. */
function createInstructionTable(buffer: ArrayBuffer): (rules: EvmRules) => void {
  const table = new Int32Array(buffer, INSTRUCTIONS, 256 * 4)
  const executed = loopInstructions()
  return ({ gas, need, room }) => {
    for (let op = 0; op < 256; op++) {
      const isIn = executed.has(op) && gas[op] !== Infinity
      // No stack is as high as to be enough for an instruction that is left.
      table[4 * op] = isIn ? 4 * need[op] : 0x4000_0000
      table[4 * op + 1] = isIn ? 4 * (room[op] - need[op]) : 0
      table[4 * op + 2] = isIn ? gas[op] : 0
      table[4 * op + 3] = 0
    }
  }
}

// Longer code than any fork since Spurious Dragon lets be stored or run is not worth the copy.
const LONGEST_CODE = 0x4_0000

/** Puts code and its jump targets into the loop's memory, where it stays until there is no more room and all of it goes. */
function createCodePlaces(memory: Uint8Array): (code: Code) => number {
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
