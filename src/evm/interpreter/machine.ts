import { keyOfBytes } from '../../lib/bytes.js'
import type { Deadline } from '../../lib/deadline.js'
import type { Environment } from './environment.js'
import { createFrame, type Frame } from './frame.js'
import type { Hooks } from './hooks.js'
import type { Precompile } from './precompiles/precompile.js'
import type { EvmRules } from './rules.js'
import type { Account, EvmState } from './state.js'
import { TopicTable } from './topicTable.js'
import { STACK_LIMBS, STACKS_LIMBS } from './wasm/layout.js'
import { type WasmCore, wasmCoreOfThread } from './wasm/wasmCore.js'
import { type Words, wordToBytes } from './words/words.js'

const INITIAL_STACK_LIMBS = 16 * STACK_LIMBS
const INITIAL_MEMORY = 0x10_0000
// Kept between messages; anything beyond is released.
const KEPT_STACK_LIMBS = STACKS_LIMBS
const KEPT_MEMORY = 0x200_0000
// Untouched pages take no memory, so arrays grow in large steps.
const MEMORY_GROWTH = 8
// Return data buffers kept between messages, and the size for deep frames; there may be a thousand of those.
const KEPT_RETURN_DATA = 0x1_0000
const KEPT_DEEP_RETURN_DATA = 1024
const DEEP = 16

/** Upper bound of all frames' memories together. Gas for that much exceeds 2^42. */
const MAX_MEMORY = 0x7fff_ffe0

/** Up to this length, loops over bytes are faster than the views and calls of a copy. */
export const LOOPED_BYTES = 64

/** How often the deadline is checked, and what counts as long work. */
export interface CheckIntervals {
  /** Frames entered between two checks. */
  readonly frames: number
  /** Bytes processed by instructions between two checks. More at once is long work. */
  readonly bytes: number
  /** A precompile with more gas is long work. */
  readonly precompileGas: number
  /** Extending all frames' memories beyond this is long work. */
  readonly memory: number
}

/** For a reader thread, where checks cost next to nothing. Ten bytes cost at least one gas; a precompile with more gas
 *  takes a millisecond or more. */
const THREAD_CHECK_INTERVALS: CheckIntervals = {
  frames: 64,
  bytes: 0x8_0000,
  precompileGas: 10_000,
  memory: MAX_MEMORY,
}

/** The interpreter of one thread. Stacks and memories of all frames are adjacent in two reused arrays, because a
 *  caller's do not grow while the callee runs. */
export class Machine {
  /** Runs what fits its fixed stack and memory; the rest runs without it. */
  readonly wasmCore: WasmCore | undefined
  stack: Words
  memory: Uint8Array
  view: DataView
  readonly frames: Frame[] = []
  readonly topics = new TopicTable()
  rules: EvmRules
  precompiles: readonly (Precompile | undefined)[]
  /** Precompiles that a call has moved, by `addressKey`; undefined: moved away from that address. */
  movedPrecompiles: ReadonlyMap<string, Precompile | undefined> | undefined
  environment: Environment
  readonly state: EvmState
  deadline: Deadline
  readonly pace: CheckIntervals
  readonly keepsLogs: boolean
  /** Set while a tracer follows the execution. */
  hooks: Hooks | undefined
  /** Called before each transfer of ether; undefined: no listener. */
  onTransfer: ((from: Account, to: Account, value: bigint) => void) | undefined
  /** Collects the accounts that are called, created or sent the balance of a SELFDESTRUCT; undefined: not requested. */
  callees: Set<Account> | undefined
  /** Bytes processed by single instructions since the last deadline check. */
  bytesWorked = 0
  /** State gas that the transaction has set aside (EIP-8037): at most 2^53 - 1. */
  reservoir = 0
  /** State gas that the transaction has used. */
  stateUsed = 0
  /** Frames entered since the last deadline check. */
  framesEntered = 0
  /** Price of a failed call or creation without its constant gas; undefined if not computed. Set with a failure. */
  unpaidPrice: bigint | undefined
  /** Price of another failed instruction, if the gas left does not show it. */
  failedPrice: number | undefined
  /** Access cost of the account whose code an EXTCODECOPY could not copy. */
  failedAccess = 0

  constructor(parts: MachineParts) {
    this.rules = parts.rules
    this.precompiles = parts.precompiles
    this.movedPrecompiles = undefined
    this.onTransfer = undefined
    this.callees = undefined
    this.environment = parts.environment
    this.state = parts.state
    this.deadline = parts.deadline
    this.pace = parts.checkIntervals ?? THREAD_CHECK_INTERVALS
    this.keepsLogs = parts.keepsLogs ?? true
    this.hooks = undefined
    this.unpaidPrice = undefined
    this.failedPrice = undefined
    this.wasmCore = parts.withWasm === false ? undefined : wasmCoreOfThread()
    this.stack = this.wasmCore?.stack ?? new Int32Array(INITIAL_STACK_LIMBS)
    this.memory = this.wasmCore?.memory ?? new Uint8Array(INITIAL_MEMORY)
    this.view = this.wasmCore?.view ?? new DataView(this.memory.buffer)
  }

  /** The frame of a depth. A new one is created with `account`. */
  frame(depth: number, account: Account): Frame {
    if (depth === this.frames.length) this.frames.push(createFrame(depth, account))
    return this.frames[depth]
  }

  /** Makes room for a full stack at `base`. */
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

  /** Releases what an unusually large message needed. */
  trim(): void {
    const { wasmCore } = this
    if (wasmCore !== undefined) {
      this.stack = wasmCore.stack
      this.memory = wasmCore.memory
      this.view = wasmCore.view
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

/** Dependencies of a machine; all but the state can be replaced between messages. */
export interface MachineParts {
  rules: EvmRules
  precompiles: readonly (Precompile | undefined)[]
  environment: Environment
  state: EvmState
  deadline: Deadline
  /** Use WebAssembly; default true. */
  withWasm?: boolean
  /** Default: `THREAD_PACE`. */
  checkIntervals?: CheckIntervals
  /** Keep logs; default true. */
  keepsLogs?: boolean
}

/** Gas to expand a frame's memory to `end` (Yellow Paper, appendix H, C_mem). Infinite beyond the maximum. */
export function expansionGas(frame: Pick<Frame, 'memorySize' | 'memoryBase'>, end: number): number {
  if (end <= frame.memorySize) return 0
  if (frame.memoryBase + end > MAX_MEMORY) return Infinity
  const before = frame.memorySize / 32
  const after = Math.ceil(end / 32)
  return 3 * (after - before) + Math.floor((after * after) / 512) - Math.floor((before * before) / 512)
}

/** Zero-extends a frame's memory to `end`, which has been paid for. */
function extendMemory(machine: Machine, frame: Frame, end: number): void {
  if (end <= frame.memorySize) return
  const size = Math.ceil(end / 32) * 32
  const { memoryBase, memorySize } = frame
  if (memoryBase + size > machine.pace.memory) checkBeforeLong(machine)
  machine.reserveMemory(memoryBase + size)
  const { memory } = machine
  const [from, to] = [memoryBase + memorySize, memoryBase + size]
  // A call of `fill` takes as long as a loop over some hundred bytes.
  if (size - memorySize <= LOOPED_BYTES) for (let at = from; at < to; at++) memory[at] = 0
  else memory.fill(0, from, to)
  frame.memorySize = size
}

/** Counts bytes that one instruction processes at once, which the instruction loop does not see. A first read of an
 *  account or slot counts as some hundred. @throws DeadlineExceeded */
export function countWork(machine: Machine, bytes: number): void {
  machine.bytesWorked += bytes
  if (machine.bytesWorked < machine.pace.bytes) return
  machine.bytesWorked = 0
  if (bytes < machine.pace.bytes) machine.deadline.check()
  else checkBeforeLong(machine)
}

/** Checks the deadline before a long operation that does not check it itself. @throws DeadlineExceeded */
export function checkBeforeLong({ deadline }: Machine): void {
  if (deadline.checkBeforeLong) deadline.checkBeforeLong()
  else deadline.check()
}

/** Pays for expanding a frame's memory to `end` and expands it. Returns the gas left, negative if it was not enough. */
export function payMemory(machine: Machine, frame: Frame, gas: number, end: number): number {
  const left = gas - expansionGas(frame, end)
  if (left >= 0) extendMemory(machine, frame, end)
  return left
}

/** The precompile that answers at the address. */
export function precompileAt({ precompiles, movedPrecompiles }: Machine, address: Words): Precompile | undefined {
  if (movedPrecompiles !== undefined) {
    const key = addressKey(address)
    if (movedPrecompiles.has(key)) return movedPrecompiles.get(key)
  }
  return precompileOfFork(precompiles, address)
}

/** The key of an address among moved precompiles. */
export function addressKey(address: Words): string {
  return keyOfBytes(wordToBytes(address, 0, 20))
}

/** The precompile that the fork has at the address. Such addresses are always warm. */
export function precompileOfFork(
  precompiles: readonly (Precompile | undefined)[],
  address: Words,
): Precompile | undefined {
  if ((address[1] | address[2] | address[3] | address[4]) !== 0) return undefined
  const limb = address[0]
  return limb >= 0 && limb < precompiles.length ? precompiles[limb] : undefined
}
