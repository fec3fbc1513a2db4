import { CALL, CREATE } from '../../chain/eth/callOpcodes.js'
import { MAX_NONCE } from '../../chain/eth/transactionLimits.js'
import { createAccount, precompileFailure, runPrecompile, touchCalled, transfer } from './calls.js'
import { createCode, EMPTY_CODE } from './code.js'
import { delegateOf } from './delegate.js'
import {
  ADDRESS_COLLISION,
  CODE_STORE_OUT_OF_GAS,
  INSUFFICIENT_BALANCE,
  NONCE_OVERFLOW,
  REVERTED_BY_CODE,
} from './failures.js'
import { type Frame, REVERTED, SUCCEEDED } from './frame.js'
import { setTotalGas, totalGas } from './gas.js'
import { runFrames } from './loop.js'
import { type Machine, precompileAt } from './machine.js'
import { contractAddress } from './newAddress.js'
import { undoStateGas } from './stateGas.js'
import { setBigInt } from './words/words.js'

/** A message call from outside. The sender is not checked and its nonce does not change. */
export interface Message {
  caller: Uint8Array // 20
  to: Uint8Array // 20
  value: bigint
  input: Uint8Array
  /** Gas for the execution alone, at most 64 bits. */
  gas: bigint
  isStatic?: boolean
}

/** A contract creation from outside. Increments the caller's nonce. */
export interface CreationMessage {
  caller: Uint8Array // 20
  value: bigint
  initCode: Uint8Array
  gas: bigint
}

/** How a message ended. Its logs and refund are in the state. */
export interface Outcome {
  status: 'success' | 'revert' | 'halt'
  /** Set if the status is not success, in geth's words. */
  failure?: string
  /** Return or revert data; for a creation, the new code. */
  output: Uint8Array
  gasLeft: bigint
  /** Address of the new contract, 20 bytes, for a creation. */
  createdAddress?: Uint8Array
  /** True for a creation before Homestead (EIP-2) that succeeded without its code, because the gas was not enough. */
  lacksCode?: boolean
}

const NO_BYTES = new Uint8Array(0)

const halted = (failure: string, gasLeft = 0n): Outcome => ({ status: 'halt', failure, output: NO_BYTES, gasLeft })

/** Runs a message call. A failed one leaves the state unchanged. @throws DeadlineExceeded, after which the state must
 *  be discarded. */
export function runMessage(machine: Machine, message: Message): Outcome {
  const { hooks } = machine
  if (hooks === undefined) return callAccount(machine, message)
  const { caller: from, to, input, gas, value } = message
  hooks.enter?.({ opcode: CALL, from, to, input, gas, value })
  const outcome = callAccount(machine, message)
  hooks.exit?.(outcome)
  return outcome
}

function callAccount(machine: Machine, message: Message): Outcome {
  const { state, rules } = machine
  const { value, input } = message
  const caller = state.account(message.caller)
  const called = state.account(message.to)
  if (caller.balance < value) return halted(INSUFFICIENT_BALANCE, message.gas)
  const frame = machine.frame(0, called)
  frame.snapshot = state.snapshot()
  if (value !== 0n) transfer(machine, caller, called, value)
  else touchCalled(machine, called)
  frame.account = called
  frame.caller = caller.word
  setTotalGas(frame, message.gas)
  frame.isStatic = message.isStatic ?? false
  frame.isCreate = false
  const precompile = precompileAt(machine, called.word)
  if (precompile !== undefined) {
    const { gas } = frame
    const output = runPrecompile(machine, frame, precompile, input)
    if (output !== undefined) return { status: 'success', output: output.slice(), gasLeft: totalGas(frame) }
    state.revert(frame.snapshot)
    if (rules.eip8037) undoStateGas(machine, frame)
    return halted(precompileFailure(precompile, input, gas))
  }
  let code = state.code(called)
  const target = rules.delegations ? delegateOf(state, called) : undefined
  if (target !== undefined) {
    state.warmAccount(target)
    state.recorder?.account(target)
    code = state.code(target)
  }
  frame.code = code
  setBigInt(frame.value, 0, value)
  return runFirst(machine, frame, input)
}

/** Creates a contract. A failed creation changes only the caller's nonce. @throws DeadlineExceeded, after which the
 *  state must be discarded. */
export function createContract(machine: Machine, message: CreationMessage): Outcome {
  const { hooks, state } = machine
  if (hooks === undefined) return createAt(machine, message)
  const { caller: from, initCode: input, gas, value } = message
  const to = contractAddress(from, state.account(from).nonce)
  hooks.enter?.({ opcode: CREATE, from, to, input, gas, value })
  const outcome = createAt(machine, message)
  hooks.exit?.(outcome)
  return outcome
}

function createAt(machine: Machine, message: CreationMessage): Outcome {
  const { state } = machine
  const { value, initCode } = message
  const creator = state.account(message.caller)
  if (creator.balance < value) return halted(INSUFFICIENT_BALANCE, message.gas)
  if (creator.nonce === MAX_NONCE) return halted(NONCE_OVERFLOW, message.gas)
  const address = contractAddress(creator.address, creator.nonce)
  const frame = machine.frame(0, creator)
  if (!createAccount(machine, frame, { creator, address, value })) {
    return { ...halted(ADDRESS_COLLISION), createdAddress: address }
  }
  setTotalGas(frame, message.gas)
  frame.code = initCode.length === 0 ? EMPTY_CODE : createCode(initCode, NO_BYTES)
  setBigInt(frame.value, 0, value)
  return { ...runFirst(machine, frame, NO_BYTES), createdAddress: address }
}

/** Runs the first frame, whose account, code, value and gas are set; its input is placed in memory before the frame's
 *  own. */
function runFirst(machine: Machine, frame: Frame, input: Uint8Array): Outcome {
  frame.inputOffset = 0
  frame.inputLength = input.length
  frame.memoryBase = Math.ceil(input.length / 32) * 32
  frame.memorySize = 0
  machine.reserveMemory(frame.memoryBase)
  machine.memory.set(input)
  frame.pc = 0
  frame.stackBase = 0
  frame.sp = 0
  frame.returnLength = 0
  frame.outputOffset = 0
  frame.outputLength = 0
  frame.failure = ''
  const status = runFrames(machine, frame)
  const { outputOffset, outputLength } = frame
  machine.state.meter.take(outputLength)
  const output = machine.memory.slice(outputOffset, outputOffset + outputLength)
  const gasLeft = totalGas(frame)
  machine.trim()
  if (status === SUCCEEDED) {
    const lacksCode = frame.failure === CODE_STORE_OUT_OF_GAS
    return { status: 'success', output, gasLeft, ...(lacksCode && { lacksCode }) }
  }
  if (status === REVERTED) return { status: 'revert', failure: REVERTED_BY_CODE, output, gasLeft }
  return halted(frame.failure)
}
