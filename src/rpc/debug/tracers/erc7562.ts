import { FAILED_DEPOSIT } from '../../../evm/interpreter/failures.js'
import type { Frame } from '../../../evm/interpreter/frame.js'
import type { Hooks, SteppedMachine } from '../../../evm/interpreter/hooks.js'
import type { Journal } from '../../../evm/interpreter/journal/journal.js'
import { LIMBS, wordToBytes } from '../../../evm/interpreter/words/words.js'
import { recordCalls, type TracedCall } from '../../../evm/tracing/callTree.js'
import { fieldsOf, slotValue } from '../../../evm/tracing/stateRecorder.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import { formatCallFrame } from './callFrames.js'
import { recordPreimages } from './keccakPreimages.js'
import { byKey } from './prestate.js'

/** Options of geth's erc7562Tracer. */
export interface Erc7562Options {
  /** Number of stack words that geth keeps; nothing in its output depends on it. */
  readonly stackTopItemsSize?: number
  /** Opcodes that are not counted; the lowest byte of each. Default: those without effect on the rules of ERC-7562. */
  readonly ignoredOpcodes?: readonly bigint[]
  readonly withLog?: boolean
}

/** The calls of an execution with what ERC-7562 restricts: storage, opcodes, code of other accounts, and preimages. */
interface Erc7562Recorder {
  /** Run them in order; they throw CallMemoryExceeded. */
  readonly hooks: readonly Hooks[]
  /** The calls as geth writes them. `ofTransaction` converts the first call to that of the whole transaction. */
  result(ofTransaction: (root: TracedCall) => TracedCall, logsBefore: number): object
}

/** What a frame accessed. Keys are DATA, those of opcodes QUANTITY. */
interface Accesses {
  readonly reads: Map<string, string>
  readonly writes: Map<string, number>
  readonly transientReads: Map<string, number>
  readonly transientWrites: Map<string, number>
  readonly codeReads: string[]
  readonly usedOpcodes: Map<string, number>
  readonly contractSizes: Map<string, { contractSize: number; opcode: number }>
}

const OP = { iszero: 0x15, extcodesize: 0x3b, sload: 0x54, sstore: 0x55, gas: 0x5a, tload: 0x5c, tstore: 0x5d } as const
const RETURN = 0xf3
const REVERT = 0xfd
/** EXTCODESIZE, EXTCODECOPY, EXTCODEHASH: the account is on top of the stack. */
const CODE_READS = new Set<number>([OP.extcodesize, 0x3c, 0x3f])
/** CALL, CALLCODE, DELEGATECALL, STATICCALL: the account is below the gas. */
const CALLS = new Set([0xf1, 0xf2, 0xf4, 0xfa])
/** ADD, MUL, SUB, DIV, LT, GT, SLT, SGT, EQ, ISZERO, AND, OR, NOT, SHL, SHR, POP, and PUSH0 to SWAP16. */
const IGNORED = new Set([
  ...[0x01, 0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x19, 0x1b, 0x1c, 0x50],
  ...Array.from({ length: 0xa0 - 0x5f }, (_, i) => 0x5f + i),
])

/** What op-geth shows for a deposit that failed before it ran, with its gas. */
const FAILED_DEPOSIT_FRAME = { to: formatData(new Uint8Array(20)), error: undefined }

// The lists of a frame, and one entry of a list.
const FRAME_BYTES = 1000
const ENTRY_BYTES = 250

/** A recorder over the journal on which the execution runs, whose meter counts its memory. */
export function recordErc7562(journal: Journal, { ignoredOpcodes, withLog }: Erc7562Options): Erc7562Recorder {
  const { meter } = journal
  const calls = recordCalls(meter, { withLog })
  const preimages = recordPreimages(meter)
  const ignored = ignoredOpcodes === undefined ? IGNORED : new Set(ignoredOpcodes.map((each) => Number(each & 0xffn)))
  /** All frames in order of their start, and the frames that run. */
  const frames: Accesses[] = []
  const open: Accesses[] = []
  /** The previous instruction, in any frame; cleared by RETURN and REVERT. */
  let last: { op: number; address?: string } | undefined

  const count = (counts: Map<string, number>, key: string) => {
    const before = counts.get(key)
    if (before === undefined) meter.take(ENTRY_BYTES)
    counts.set(key, (before ?? 0) + 1)
  }
  const addressAt = ({ stack }: SteppedMachine, { sp, stackBase }: Frame, position: number) =>
    (sp - stackBase) / LIMBS < position ? undefined : wordToBytes(stack, sp - position * LIMBS, 20)

  const noteCode = (machine: SteppedMachine, frame: Frame, op: number): string | undefined => {
    const address = addressAt(machine, frame, CALLS.has(op) ? 2 : 1)
    if (address === undefined) return undefined
    const key = formatData(address)
    const { contractSizes } = open[open.length - 1]
    if (!contractSizes.has(key)) {
      meter.take(ENTRY_BYTES)
      contractSizes.set(key, { contractSize: fieldsOf(journal, address).code.length, opcode: op })
    }
    return key
  }
  const noteStorage = ({ stack }: SteppedMachine, { sp, stackBase, account }: Frame, op: number) => {
    if (sp === stackBase) return
    const word = wordToBytes(stack, sp - LIMBS)
    const slot = formatData(word)
    const { reads, writes, transientReads, transientWrites } = open[open.length - 1]
    if (op === OP.sload) {
      if (reads.has(slot) || writes.has(slot)) return
      meter.take(ENTRY_BYTES)
      reads.set(slot, formatData(slotValue(journal, account.address, word)))
    } else if (op === OP.sstore) count(writes, slot)
    else if (op === OP.tload) count(transientReads, slot)
    else if (op === OP.tstore) count(transientWrites, slot)
  }

  const hooks: Hooks = {
    enter() {
      meter.take(FRAME_BYTES)
      const accesses: Accesses = {
        ...{ reads: new Map(), writes: new Map(), transientReads: new Map(), transientWrites: new Map() },
        ...{ codeReads: [], usedOpcodes: new Map(), contractSizes: new Map() },
      }
      frames.push(accesses)
      open.push(accesses)
    },
    exit() {
      open.pop()
    },
    step(machine, frame, op) {
      const { codeReads, usedOpcodes } = open[open.length - 1]
      if (op === RETURN || op === REVERT) last = undefined
      if (last?.address !== undefined && !(last.op === OP.extcodesize && op === OP.iszero)) {
        meter.take(ENTRY_BYTES)
        codeReads.push(last.address)
      }
      const isCodeRead = CODE_READS.has(op)
      const address = isCodeRead || CALLS.has(op) ? noteCode(machine, frame, op) : undefined
      if (last?.op === OP.gas && !CALLS.has(op)) count(usedOpcodes, formatQuantity(OP.gas))
      if (op !== OP.gas && !ignored.has(op)) count(usedOpcodes, formatQuantity(op))
      noteStorage(machine, frame, op)
      last = { op, address: isCodeRead ? address : undefined }
    },
    // A machine with `step` calls this.
    stepped() {},
  }

  const result: Erc7562Recorder['result'] = (ofTransaction, logsBefore) => {
    let next = 0
    const format = (call: TracedCall, isFirst: boolean): object => {
      const accesses = formatAccesses(frames[next++])
      // geth omits this for the first call.
      const outOfGas = !isFirst && /^(out of gas|contract creation code storage out of gas)/.test(call.failure ?? '')
      const { logs, value, type, ...head } = formatCallFrame({ ...call, calls: [] }, logsBefore)
      const keccak = isFirst ? preimages.preimages().sort(Buffer.compare).map(formatData) : []
      const inner = call.calls.map((each) => format(each, false))
      const lists = { keccak: orAbsent(keccak), calls: orAbsent(inner) }
      const changes = call.failure === FAILED_DEPOSIT ? { ...FAILED_DEPOSIT_FRAME, gas: formatQuantity(call.gas) } : {}
      return { ...head, ...changes, logs, value, ...accesses, outOfGas, ...lists, type }
    }
    return format(ofTransaction(calls.root()), true)
  }
  return { hooks: [calls.hooks, preimages.hooks, hooks], result }
}

/** geth omits empty lists. */
function orAbsent<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}

function formatAccesses(accesses: Accesses): object {
  const { reads, writes, transientReads, transientWrites, codeReads, usedOpcodes, contractSizes } = accesses
  return {
    accessedSlots: {
      reads: byKey([...reads].map(([slot, value]) => [slot, [value]])),
      writes: byKey([...writes]),
      transientReads: byKey([...transientReads]),
      transientWrites: byKey([...transientWrites]),
    },
    extCodeAccessInfo: codeReads,
    usedOpcodes: byKey([...usedOpcodes]),
    contractSize: byKey([...contractSizes]),
  }
}
