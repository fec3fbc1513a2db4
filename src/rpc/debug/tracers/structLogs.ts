import { FAILED_DEPOSIT } from '../../../evm/interpreter/failures.js'
import type { Frame } from '../../../evm/interpreter/frame.js'
import { totalGas } from '../../../evm/interpreter/gas.js'
import type { Hooks, SteppedMachine } from '../../../evm/interpreter/hooks.js'
import type { Journal } from '../../../evm/interpreter/journal/journal.js'
import { LIMBS, wordToBytes } from '../../../evm/interpreter/words/words.js'
import type { Applied } from '../../../evm/tracing/execution.js'
import { slotValue } from '../../../evm/tracing/stateRecorder.js'
import { formatData } from '../../../lib/hex.js'
import { finite } from '../../core/finite.js'
import type { JsonOutput } from '../../core/jsonOutput.js'
import { OPCODE_NAMES } from './opcodeNames.js'

/** Options of geth's struct logger. */
export interface StructLogOptions {
  readonly enableMemory?: boolean
  readonly disableStack?: boolean
  readonly disableStorage?: boolean
  readonly enableReturnData?: boolean
  /** No more logs are written once the output exceeds this many bytes; 0: no limit. */
  readonly limit?: number
}

const SLOAD = 0x54
const SSTORE = 0x55

/** Writes the result of geth's struct logger: a summary and one entry for each instruction. `applied` is the outcome of
 *  a previous run, so that nothing has to be buffered; `run` repeats it with the hooks. */
export function writeStructLogs(
  out: JsonOutput,
  options: StructLogOptions,
  { applied, journal, run }: { applied: Applied; journal: Journal; run: (hooks: Hooks) => void },
): void {
  const { gasUsed, failure, lacksCode, output } = applied
  // In geth's words, though the state stays without code. op-geth traces nothing of a deposit that fails early.
  const hasFailed = (failure !== undefined && failure !== FAILED_DEPOSIT) || lacksCode === true
  const hasOutput = failure === undefined || failure === 'execution reverted'
  const returnValue = hasOutput ? formatData(output) : '0x'
  out.write(`{"gas":${gasUsed},"failed":${hasFailed},"returnValue":"${returnValue}","structLogs":[`)
  run(structLogHooks(out, options, journal))
  out.write(']}')
}

function structLogHooks(out: JsonOutput, options: StructLogOptions, journal: Journal): Hooks {
  const { enableMemory, disableStack, disableStorage, enableReturnData, limit = 0 } = options
  const storages = new Map<Uint8Array, SortedStorage>()
  const storageText = ({ address, slot, value }: StorageAccess): string => {
    let storage = storages.get(address)
    if (storage === undefined) {
      storage = createSortedStorage()
      storages.set(address, storage)
    }
    storage.set(formatData(slot), formatData(value))
    return `,"storage":{${storage.json()}}`
  }
  const stackText = createStackWriter()
  let head = ''
  let depth = 0
  let tail = ''
  // Only an instruction with enough gas has read or written it.
  let access: StorageAccess | undefined
  let written = 0
  let isFirst = true
  const isFull = () => limit !== 0 && written > limit
  return {
    step(machine, frame, op) {
      if (isFull()) return
      const gas = frame.gasBeyond === 0n ? frame.gas : totalGas(frame)
      head = `{"pc":${frame.pc},"op":"${OPCODE_NAMES[op]}","gas":${gas},"gasCost":`
      depth = frame.depth + 1
      tail = disableStack ? '' : `,"stack":[${stackText(machine, frame)}]`
      if (enableReturnData && frame.returnLength > 0) {
        tail += `,"returnData":"${formatData(frame.returnData.subarray(0, frame.returnLength))}"`
      }
      if (enableMemory && frame.memorySize > 0) tail += `,"memory":[${memoryText(machine, frame)}]`
      access = disableStorage ? undefined : storageAccess(machine, frame, op, journal)
    },
    stepped({ state }, cost, failure) {
      if (isFull()) return
      const error = failure === undefined ? '' : `,"error":${JSON.stringify(failure)}`
      const storage = access === undefined || failure !== undefined ? '' : storageText(access)
      const refund = state.refund === 0 ? '' : `,"refund":${state.refund}`
      const entry = `${head}${finite(cost)},"depth":${depth}${error}${tail}${storage}${refund}}`
      written += entry.length
      out.write(isFirst ? entry : `,${entry}`)
      isFirst = false
    },
  }
}

/** A slot that an instruction reads or writes, and its value afterwards: 32 bytes each. */
interface StorageAccess {
  readonly address: Uint8Array // 20, always the same object for an account
  readonly slot: Uint8Array
  readonly value: Uint8Array
}

/** The slot that the instruction is about to read or write; undefined for other instructions. */
function storageAccess(
  { stack }: SteppedMachine,
  { sp, stackBase, account }: Frame,
  op: number,
  journal: Journal,
): StorageAccess | undefined {
  if (op !== SLOAD && op !== SSTORE) return undefined
  if ((sp - stackBase) / LIMBS < (op === SLOAD ? 1 : 2)) return undefined
  const { address } = account
  const slot = wordToBytes(stack, sp - LIMBS)
  const value = op === SLOAD ? slotValue(journal, address, slot) : wordToBytes(stack, sp - 2 * LIMBS)
  return { address, slot, value }
}

/** Writes stacks. Most words equal those of the previous step: their text is kept. */
function createStackWriter(): (machine: SteppedMachine, frame: Frame) => string {
  let base = -1
  let known = 0
  let words = new Int32Array(64 * LIMBS)
  /** The text of the first words, by their number. */
  const texts: string[] = ['']
  return ({ stack }, { stackBase, sp }) => {
    const height = sp - stackBase
    if (height > words.length) {
      const longer = new Int32Array(Math.max(height, 2 * words.length))
      longer.set(words)
      words = longer
    }
    let same = 0
    if (stackBase === base) {
      const most = Math.min(height, known)
      while (same < most && stack[stackBase + same] === words[same]) same++
    }
    for (let at = same - (same % LIMBS); at < height; at += LIMBS) {
      for (let i = at; i < at + LIMBS; i++) words[i] = stack[stackBase + i]
      const text = `"${wordHex(stack, stackBase + at)}"`
      texts[at / LIMBS + 1] = at === 0 ? text : `${texts[at / LIMBS]},${text}`
    }
    base = stackBase
    known = height
    return texts[height / LIMBS]
  }
}

/** The word as a quantity. */
function wordHex(words: Int32Array, at: number): string {
  let top = LIMBS - 1
  while (top > 0 && words[at + top] === 0) top--
  let text = `0x${(words[at + top] >>> 0).toString(16)}`
  for (let i = top - 1; i >= 0; i--) text += (words[at + i] >>> 0).toString(16).padStart(8, '0')
  return text
}

const WORD_DIGITS = 64

function memoryText({ memory }: SteppedMachine, { memoryBase, memorySize }: Frame): string {
  const hex = Buffer.from(memory.buffer, memory.byteOffset + memoryBase, memorySize).toString('hex')
  let text = `"0x${hex.slice(0, WORD_DIGITS)}"`
  for (let at = WORD_DIGITS; at < hex.length; at += WORD_DIGITS) text += `,"0x${hex.slice(at, at + WORD_DIGITS)}"`
  return text
}

/** The slots of a contract that were read or written, as members in order of their keys. */
interface SortedStorage {
  set(slot: string, value: string): void
  json(): string
}

function createSortedStorage(): SortedStorage {
  const slots: string[] = []
  const values = new Map<string, string>()
  let text: string | undefined
  return {
    set(slot, value) {
      if (values.get(slot) === value) return
      if (!values.has(slot)) {
        let low = 0
        let high = slots.length
        while (low < high) {
          const middle = (low + high) >>> 1
          if (slots[middle] < slot) low = middle + 1
          else high = middle
        }
        slots.splice(low, 0, slot)
      }
      values.set(slot, value)
      text = undefined
    },
    json() {
      text ??= slots.map((slot) => `"${slot}":"${values.get(slot)}"`).join(',')
      return text
    },
  }
}
