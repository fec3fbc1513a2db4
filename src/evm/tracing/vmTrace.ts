import type { Frame } from '../interpreter/frame.js'
import type { Hooks, SteppedMachine } from '../interpreter/hooks.js'
import type { MemoryMeter } from '../interpreter/memoryMeter.js'
import { OF_ALL_FORKS } from '../interpreter/opcodes/instructions.js'
import { LIMBS, toIndex, wordToBigInt } from '../interpreter/words/words.js'

/** The effect of an instruction. */
export interface StepEffect {
  /** Gas left after it, and after its call. */
  gasLeft: number
  pushed: bigint[]
  memory?: { offset: number; bytes: Uint8Array }
  stored?: { slot: bigint; value: bigint }
}

/** An instruction that ran, or failed without effect. */
export interface TracedStep {
  readonly pc: number
  readonly opcode: number
  cost: number
  effect?: StepEffect
  /** The code that it called. */
  sub?: CodeTrace
}

/** The instructions of one call. */
export interface CodeTrace {
  readonly code: Uint8Array
  readonly steps: TracedStep[]
}

/** Records instructions as OpenEthereum's vmTrace does. */
export interface CodeRecorder {
  readonly hooks: Hooks
  /** Undefined if no code ran. */
  root(): CodeTrace | undefined
}

const PUSHES: readonly number[] = OF_ALL_FORKS.map((instruction) => instruction?.pushes ?? 0)

/** Where an instruction writes memory: positions of offset and length on the stack, from the top; or a fixed length. */
const WRITES = new Map<number, { offset: number; length?: number; bytes?: number }>([
  [0x37, { offset: 1, length: 3 }], // CALLDATACOPY
  [0x39, { offset: 1, length: 3 }], // CODECOPY
  [0x3c, { offset: 2, length: 4 }], // EXTCODECOPY
  [0x3e, { offset: 1, length: 3 }], // RETURNDATACOPY
  [0x51, { offset: 1, bytes: 32 }], // MLOAD
  [0x52, { offset: 1, bytes: 32 }], // MSTORE
  [0x53, { offset: 1, bytes: 1 }], // MSTORE8
  [0x5e, { offset: 1, length: 3 }], // MCOPY
  [0xf1, { offset: 6, length: 7 }], // CALL
  [0xf2, { offset: 6, length: 7 }], // CALLCODE
  [0xf4, { offset: 5, length: 6 }], // DELEGATECALL
  [0xfa, { offset: 5, length: 6 }], // STATICCALL
])
const SSTORE = 0x55

const STEP_BYTES = 400

/** The last instruction of a frame, until its effect is known. */
interface OpenStep {
  readonly step: TracedStep
  readonly machine: SteppedMachine
  readonly frame: Frame
  readonly written?: { offset: number; length: number }
  readonly stored?: { slot: bigint; value: bigint }
}

/** Creates a recorder whose memory the meter counts. The hooks throw CallMemoryExceeded. */
export function recordCode(meter: MemoryMeter): CodeRecorder {
  let root: CodeTrace | undefined
  /** Traces of the running frames by depth, and their last instructions. */
  const traces: (CodeTrace | undefined)[] = []
  const open: (OpenStep | undefined)[] = []
  let last: TracedStep | undefined
  let depth = -1
  const close = (failure?: string) => {
    const ended = open[depth]
    open[depth] = undefined
    if (ended === undefined || failure !== undefined) return
    ended.step.effect = effectOf(ended)
    meter.take(ended.step.effect.memory?.bytes.length ?? 0)
  }
  const hooks: Hooks = {
    enter() {
      depth++
      traces[depth] = undefined
      open[depth] = undefined
    },
    exit({ failure }) {
      close(failure === 'execution reverted' ? undefined : failure)
      depth--
    },
    step(machine, frame, opcode) {
      close()
      let trace = traces[depth]
      if (trace === undefined) {
        trace = { code: frame.code.padded.subarray(0, frame.code.length), steps: [] }
        traces[depth] = trace
        const caller = depth > 0 ? traces[depth - 1]?.steps.at(-1) : undefined
        if (caller !== undefined) caller.sub = trace
        root ??= trace
      }
      meter.take(STEP_BYTES)
      last = { pc: frame.pc, opcode, cost: 0 }
      trace.steps.push(last)
      open[depth] = { step: last, machine, frame, ...operandsOf(machine, frame, opcode) }
    },
    stepped(_, cost) {
      last!.cost = Number(cost)
    },
  }
  return { hooks, root: () => root }
}

function operandsOf({ stack }: SteppedMachine, { sp, stackBase }: Frame, opcode: number): Partial<OpenStep> {
  const height = (sp - stackBase) / LIMBS
  if (opcode === SSTORE && height >= 2) {
    return { stored: { slot: wordToBigInt(stack, sp - LIMBS), value: wordToBigInt(stack, sp - 2 * LIMBS) } }
  }
  const written = WRITES.get(opcode)
  if (written === undefined || height < Math.max(written.offset, written.length ?? 0)) return {}
  const length = written.bytes ?? toIndex(stack, sp - written.length! * LIMBS)
  return { written: { offset: toIndex(stack, sp - written.offset * LIMBS), length } }
}

function effectOf({ step, machine, frame, written, stored }: OpenStep): StepEffect {
  const { sp, memoryBase, memorySize, gas } = frame
  const count = PUSHES[step.opcode]
  const pushed = Array.from({ length: count }, (_, i) => wordToBigInt(machine.stack, sp - (count - i) * LIMBS))
  const isThere = written !== undefined && written.length > 0 && written.offset + written.length <= memorySize
  const from = memoryBase + (written?.offset ?? 0)
  const memory = isThere
    ? { offset: written.offset, bytes: machine.memory.slice(from, from + written.length) }
    : undefined
  return { gasLeft: gas, pushed, memory, stored }
}
