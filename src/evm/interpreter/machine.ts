import type { Deadline } from '../../lib/deadline.js'
import type { Environment } from './environment.js'
import { createFrame, type Frame } from './frame.js'
import type { Precompile } from './precompiles/precompile.js'
import type { EvmRules } from './rules.js'
import type { Account, EvmState } from './state.js'
import { TopicTable } from './topicTable.js'
import { STACK_LIMBS, STACKS_LIMBS } from './wasmCore/layout.js'
import { type Loop, loopOfThread } from './wasmCore/wasmCore.js'
import type { Words } from './words/words.js'

const INITIAL_STACK_LIMBS = 16 * STACK_LIMBS
const INITIAL_MEMORY = 0x10_0000
// Kept between messages; what one message needed beyond that is given back.
const KEPT_STACK_LIMBS = STACKS_LIMBS
const KEPT_MEMORY = 0x200_0000
// Pages that nobody has written to take no memory: so arrays grow in large steps, and few are left behind.
const MEMORY_GROWTH = 8
// Return data that a frame keeps between messages, and one of those far below, of which there may be a thousand.
const KEPT_RETURN_DATA = 0x1_0000
const KEPT_DEEP_RETURN_DATA = 1024
const DEEP = 16

/** Bytes that all frames' memories may have together. Gas for as much is above 2^42. */
const MAX_MEMORY = 0x7fff_ffe0

/** How often the deadline is looked at, and what counts as long. */
export interface Pace {
  /** Frames entered between two looks. */
  readonly frames: number
  /** Bytes that instructions work on between two looks. More of them at once is long work. */
  readonly bytes: number
  /** Gas beyond which a precompile is long work. */
  readonly precompileGas: number
  /** Bytes of all frames' memories beyond which to extend them further is long work. */
  readonly memory: number
}

/** For a thread that has nothing else to do: looks take next to no time. Bytes have at least a gas for each ten of them;
 *  precompiles of more gas take a millisecond and more. */
const THREAD_PACE: Pace = { frames: 64, bytes: 0x8_0000, precompileGas: 10_000, memory: MAX_MEMORY }

/** What one thread executes on: stacks and memories of all frames lie one after another in two arrays that are used again
 *  for every message, since the caller's do not grow while the callee runs. */
export class Machine {
  /** Executes what it can while stack and memory are its own; what outgrows them is executed without it. */
  readonly loop: Loop | undefined
  stack: Words
  memory: Uint8Array
  view: DataView
  readonly frames: Frame[] = []
  readonly topics = new TopicTable()
  rules: EvmRules
  precompiles: readonly (Precompile | undefined)[]
  environment: Environment
  readonly state: EvmState
  deadline: Deadline
  readonly pace: Pace
  readonly keepsLogs: boolean
  /** Bytes worked on since the deadline was looked at, by single instructions. */
  worked = 0
  /** Frames entered since the deadline was looked at. */
  entered = 0

  constructor(parts: MachineParts) {
    this.rules = parts.rules
    this.precompiles = parts.precompiles
    this.environment = parts.environment
    this.state = parts.state
    this.deadline = parts.deadline
    this.pace = parts.pace ?? THREAD_PACE
    this.keepsLogs = parts.keepsLogs ?? true
    this.loop = parts.withLoop === false ? undefined : loopOfThread()
    this.stack = this.loop?.stack ?? new Int32Array(INITIAL_STACK_LIMBS)
    this.memory = this.loop?.memory ?? new Uint8Array(INITIAL_MEMORY)
    this.view = this.loop?.view ?? new DataView(this.memory.buffer)
  }

  /** The frame of a depth. `account` is put in it when it is made. */
  frame(depth: number, account: Account): Frame {
    if (depth === this.frames.length) this.frames.push(createFrame(depth, account))
    return this.frames[depth]
  }

  /** Makes room for a full stack from `base` on. */
  reserveStack(base: number): void {
    if (base + STACK_LIMBS <= this.stack.length) return
    const length = Math.max(base + STACK_LIMBS, this.stack.length * 2)
    this.state.meter.take(4 * (length - this.stack.length))
    const stack = new Int32Array(length)
    stack.set(this.stack)
    this.stack = stack
  }

  /** Makes room for memory up to `end`. @throws CallMemoryExceeded */
  reserveMemory(end: number): void {
    if (end <= this.memory.length) return
    const { meter } = this.state
    const { length } = this.memory
    const size = Math.max(end, Math.min(length * MEMORY_GROWTH, length + meter.left(), MAX_MEMORY))
    meter.take(size - length)
    const memory = new Uint8Array(size)
    memory.set(this.memory)
    this.memory = memory
    this.view = new DataView(memory.buffer)
  }

  /** Gives back what an unusually large message needed. */
  trim(): void {
    const { loop } = this
    if (loop !== undefined) {
      this.stack = loop.stack
      this.memory = loop.memory
      this.view = loop.view
    } else {
      if (this.stack.length > KEPT_STACK_LIMBS) this.stack = new Int32Array(INITIAL_STACK_LIMBS)
      if (this.memory.length > KEPT_MEMORY) {
        this.memory = new Uint8Array(INITIAL_MEMORY)
        this.view = new DataView(this.memory.buffer)
      }
    }
    for (const frame of this.frames) {
      const kept = frame.depth < DEEP ? KEPT_RETURN_DATA : KEPT_DEEP_RETURN_DATA
      if (frame.returnData.length > kept) frame.returnData = new Uint8Array(256)
    }
  }
}

/** What a machine works with; all but the state may be exchanged between messages. */
export interface MachineParts {
  rules: EvmRules
  precompiles: readonly (Precompile | undefined)[]
  environment: Environment
  state: EvmState
  deadline: Deadline
  /** Whether instructions may be executed in WebAssembly, which is so when it is not given. */
  withLoop?: boolean
  /** `THREAD_PACE` when absent. */
  pace?: Pace
  /** Whether logs are wanted, which is so when it is not given. */
  keepsLogs?: boolean
}

/** Gas for a frame's memory to reach `end` (Yellow Paper, appendix H, C_mem). Infinite beyond what can be had. */
function expansionGas(frame: Frame, end: number): number {
  if (end <= frame.memorySize) return 0
  if (frame.memoryBase + end > MAX_MEMORY) return Infinity
  const before = frame.memorySize / 32
  const after = Math.ceil(end / 32)
  return 3 * (after - before) + Math.floor((after * after) / 512) - Math.floor((before * before) / 512)
}

/** Extends a frame's memory with zeros so that it reaches `end`, which has been paid for. */
function extendMemory(machine: Machine, frame: Frame, end: number): void {
  if (end <= frame.memorySize) return
  const size = Math.ceil(end / 32) * 32
  const { memoryBase, memorySize } = frame
  if (memoryBase + size > machine.pace.memory) checkBeforeLong(machine)
  machine.reserveMemory(memoryBase + size)
  machine.memory.fill(0, memoryBase + memorySize, memoryBase + size)
  frame.memorySize = size
}

/** Notes that an instruction works on so many bytes at once, which the loop of instructions does not see. What reads an
 *  account or slot for the first time counts as some hundred. @throws DeadlineExceeded */
export function countWork(machine: Machine, bytes: number): void {
  machine.worked += bytes
  if (machine.worked < machine.pace.bytes) return
  machine.worked = 0
  if (bytes < machine.pace.bytes) machine.deadline.check()
  else checkBeforeLong(machine)
}

/** Looks at the deadline before something that takes long and does not. @throws DeadlineExceeded */
export function checkBeforeLong({ deadline }: Machine): void {
  if (deadline.checkBeforeLong) deadline.checkBeforeLong()
  else deadline.check()
}

/** Pays for a frame's memory to reach `end` and extends it. Gas that is left; negative when it was not enough. */
export function payMemory(machine: Machine, frame: Frame, gas: number, end: number): number {
  const left = gas - expansionGas(frame, end)
  if (left >= 0) extendMemory(machine, frame, end)
  return left
}

/** The precompile at the address; undefined when there is none in the fork. */
export function precompileAt({ precompiles }: Machine, address: Words): Precompile | undefined {
  if ((address[1] | address[2] | address[3] | address[4]) !== 0) return undefined
  const limb = address[0]
  return limb >= 0 && limb < precompiles.length ? precompiles[limb] : undefined
}
