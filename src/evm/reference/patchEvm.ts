import type { EVM, EVMResult, ExecResult, Message } from '@ethereumjs/evm'
import { type Account, Address } from '@ethereumjs/util'
import { keccak256 } from '../../chain/crypto.js'
import { CREATE, CREATE2 } from '../../chain/eth/callOpcodes.js'
import { bigIntToBytes, padLeft } from '../../lib/bytes.js'

// EIP-3540 is in no fork: code with this prefix is ordinary code whose first instruction is invalid.
const EOF_MAGIC = [0xef, 0x00]

/** Members corrected here are protected in the package, or typed in files that it does not export. */
interface Inner {
  _opcodeMap: { opcodeInfo: { isInvalid: boolean }; opHandler: Handler }[]
  _executeCreate(message: Message): Promise<EVMResult>
  _addToBalance(account: Account, message: Message): Promise<void>
  runInterpreter(message: Message & { isCreate?: boolean }, opts?: unknown): Promise<ExecResult>
}

/** State of a call or creation at one depth, such as what it has touched. */
type JournalDiff = [height: number, changes: [unknown, unknown, touched: Set<string>]]

interface InnerJournal {
  journalHeight: number
  journalDiff: JournalDiff[]
  touched: Set<string>
  revert(): Promise<void>
  cleanJournal(): void
}

interface RunState {
  stack: { peek(count: number): bigint[]; popN(count: number): bigint[]; push(value: bigint): void }
  memory: {
    read(offset: number, size: number, avoidCopy?: boolean): Uint8Array
    write(offset: number, size: number, data: Uint8Array): void
  }
  messageGasLimit?: bigint
  interpreter: {
    create(gas: bigint, value: bigint, initCode: Uint8Array, salt?: Uint8Array): Promise<bigint>
    isStatic(): boolean
  }
  stateManager: { getCode(address: Address): Promise<Uint8Array> }
}

type Handler = (runState: RunState, common: EVM['common']) => void | Promise<void>

const RIPEMD = '0000000000000000000000000000000000000003'

const EXTCODESIZE = 0x3b
const EXTCODECOPY = 0x3c
const EXTCODEHASH = 0x3f

const hasMagic = (code: Uint8Array) => code[0] === EOF_MAGIC[0] && code[1] === EOF_MAGIC[1]

/** Corrects faults of @ethereumjs/evm 10.1.3 on forks that Cairn supports, found by the differential fuzzer:
 *  - init code with the prefix 0xef00 is not run and its creation is free, as if EIP-3540 were active;
 *  - EXTCODESIZE, EXTCODECOPY and EXTCODEHASH see only 0xef00 of code with that prefix;
 *  - a creation that reverts with data starting with 0xef loses its gas and its data; EIP-3541 restricts only code;
 *  - a reverted touch of the RIPEMD-160 precompile counts even if it came with value. */
export function patchEvm(evm: EVM): void {
  const inner = evm as unknown as Inner
  mendCreations(inner)
  mendCodeReads(inner)
  mendReverts(inner)
  mendRipemdTouch(evm, inner)
}

/** Adds a handler in front of the package's own, which runs if the new one returns false. */
function mendOpcode(
  inner: Inner,
  code: number,
  mended: (runState: RunState, common: EVM['common']) => Promise<boolean>,
) {
  const entry = inner._opcodeMap[code]
  if (entry.opcodeInfo.isInvalid) return // not in this fork
  const own = entry.opHandler
  inner._opcodeMap[code] = {
    ...entry,
    opHandler: async (runState, common) => {
      if (!(await mended(runState, common))) await own(runState, common)
    },
  }
}

function mendCreations(inner: Inner): void {
  const create = (operands: number) => async (runState: RunState, common: EVM['common']) => {
    const { stack, memory, interpreter } = runState
    const [value, offset, length, salt] = stack.peek(operands)
    const tooLarge = common.isActivatedEIP(3860) && length > common.param('maxInitCodeSize')
    if (length < 2n || tooLarge || interpreter.isStatic()) return false
    const initCode = memory.read(Number(offset), Number(length))
    const gas = runState.messageGasLimit
    if (!hasMagic(initCode) || gas === undefined) return false
    runState.messageGasLimit = undefined
    stack.popN(operands)
    stack.push(await interpreter.create(gas, value, initCode, salt === undefined ? undefined : toWord(salt)))
    return true
  }
  mendOpcode(inner, CREATE, create(3))
  mendOpcode(inner, CREATE2, create(4))
}

/** Only a touch without value survives its revert. */
function mendRipemdTouch(evm: EVM, inner: Inner): void {
  const journal = evm.journal as unknown as InnerJournal
  const addToBalance = inner._addToBalance.bind(inner)
  const revert = journal.revert.bind(journal)
  const cleanJournal = journal.cleanJournal.bind(journal)
  let isKept = false
  inner._addToBalance = async (account, message) => {
    if (message.value === 0n && account.isEmpty() && message.to?.toString() === `0x${RIPEMD}`) isKept = true
    await addToBalance(account, message)
  }
  journal.revert = async () => {
    const undone = journal.journalDiff.slice(
      journal.journalDiff.findLastIndex(([height]) => height < journal.journalHeight) + 1,
    )
    const isUndone = undone.some(([, [, , touched]]) => touched.has(RIPEMD))
    await revert()
    if (isUndone && !isKept) journal.touched.delete(RIPEMD)
  }
  journal.cleanJournal = () => {
    isKept = false
    cleanJournal()
  }
}

const toWord = (value: bigint) => padLeft(bigIntToBytes(value), 32)

function mendCodeReads(inner: Inner): void {
  const read = (operands: number, use: (runState: RunState, code: Uint8Array, operands: bigint[]) => void) => {
    return async (runState: RunState) => {
      const address = new Address(toWord(runState.stack.peek(1)[0]).slice(12))
      const code = await runState.stateManager.getCode(address)
      if (!hasMagic(code)) return false
      use(runState, code, runState.stack.popN(operands))
      return true
    }
  }
  const size = read(1, ({ stack }, code) => stack.push(BigInt(code.length)))
  const hash = read(1, ({ stack }, code) => stack.push(BigInt(`0x${Buffer.from(keccak256(code)).toString('hex')}`)))
  const copy = read(4, ({ memory }, code, [, memoryOffset, codeOffset, length]) => {
    if (length === 0n) return
    const data = new Uint8Array(Number(length))
    if (codeOffset < code.length) data.set(code.subarray(Number(codeOffset), Number(codeOffset) + data.length))
    memory.write(Number(memoryOffset), data.length, data)
  })
  mendOpcode(inner, EXTCODESIZE, size)
  mendOpcode(inner, EXTCODEHASH, hash)
  mendOpcode(inner, EXTCODECOPY, copy)
}

function mendReverts(inner: Inner): void {
  const runInterpreter = inner.runInterpreter.bind(inner)
  const executeCreate = inner._executeCreate.bind(inner)
  // Nothing runs between the end of the init code and that of its creation, so one variable is enough.
  let kept: Uint8Array | undefined
  inner.runInterpreter = async (message, options) => {
    const result = await runInterpreter(message, options)
    const { exceptionError, returnValue } = result
    if (message.isCreate !== true || exceptionError === undefined || returnValue[0] !== 0xef) return result
    kept = returnValue
    return { ...result, returnValue: new Uint8Array(0) }
  }
  inner._executeCreate = async (message) => {
    const result = await executeCreate(message)
    if (kept === undefined) return result
    const returnValue = kept
    kept = undefined
    return { ...result, execResult: { ...result.execResult, returnValue } }
  }
}
