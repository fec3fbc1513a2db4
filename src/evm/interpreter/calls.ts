import { CALL, CALLCODE, CREATE, CREATE2, DELEGATECALL, STATICCALL } from '../../chain/eth/callOpcodes.js'
import { MAX_NONCE } from '../../chain/eth/transactionLimits.js'
import { type Code, createCode, EMPTY_CODE } from './code.js'
import {
  ADDRESS_COLLISION,
  CALL_DEPTH,
  INSUFFICIENT_BALANCE,
  NONCE_OVERFLOW,
  OUT_OF_GAS,
  OUT_OF_GAS_WHILE_PRICING,
  PRECOMPILE_FAILED,
} from './failures.js'
import { dropReturnData, type Frame, reserveReturnData, setReturnData } from './frame.js'
import { addGas, giveAllGas, giveGas, returnGas, takeGas } from './gas.js'
import { checkBeforeLong, type Machine, payMemory, precompileAt } from './machine.js'
import { contractAddress, contractAddress2 } from './newAddress.js'
import { accessGas } from './opcodes/accounts.js'
import { rangeEnd } from './opcodes/memory.js'
import type { Precompile } from './precompiles/precompile.js'
import { reportCall, reportCreation, reportEnd } from './reports.js'
import { NEW_ACCOUNT_STATE_GAS } from './rules.js'
import { callShortage, creationShortage, passedGasShortage } from './shortage.js'
import type { Account } from './state.js'
import { chargeState, enterStateGas, leaveStateGas } from './stateGas.js'
import { logTransfer } from './transferLog.js'
import { copyWord, isZeroWord, setSmall, toIndex, wordToBigInt, wordToBytes } from './words/words.js'

/** Maximum call depth below the first frame (Yellow Paper, 9.4.2). */
export const MAX_DEPTH = 1024

const STIPEND = 2300
const HASH_WORD_GAS = 6

// Init code is copied twice from the creator's memory: to hash it and to run it.
const INIT_CODE_COPIES = 2

/** Executes the call or create instruction at which the frame stopped, up to the first instruction of the callee.
 *  Returns the frame to continue with, the callee's or the same one; undefined if the frame must halt with
 *  `failure`. */
export function enter(machine: Machine, frame: Frame): Frame | undefined {
  return frame.callOpcode === CREATE || frame.callOpcode === CREATE2
    ? beginCreate(machine, frame)
    : beginCall(machine, frame)
}

function fail(frame: Frame, failure: string): undefined {
  frame.failure = failure
}

/** Fails a call that cannot pay its price or is forbidden. */
function failUnpaid(machine: Machine, frame: Frame, call: { access: number; makesAccount: boolean }): undefined {
  const { failure, price } = callShortage(machine, frame, call)
  machine.unpaidPrice = price
  return fail(frame, failure)
}

/** Fails a call before EIP-150 that requests more gas than is left after the `paid` price of the call itself. */
function failPassing(machine: Machine, frame: Frame, paid: number): undefined {
  const { failure, price } = passedGasShortage(BigInt(paid), wordToBigInt(machine.stack, frame.sp - 8))
  machine.unpaidPrice = price
  return fail(frame, failure)
}

/** Like `failUnpaid`, for a creation. */
function failCreation(machine: Machine, frame: Frame): undefined {
  const { failure, price } = creationShortage(machine, frame, frame.callOpcode, frame.sp)
  machine.unpaidPrice = price
  return fail(frame, failure)
}

/** CALL, CALLCODE, DELEGATECALL and STATICCALL (Yellow Paper, appendix H; EIP-7, 150, 161, 214, 2929, 7702, 8037,
 *  8038). */
function beginCall(machine: Machine, frame: Frame): Frame | undefined {
  const { state, stack, rules } = machine
  const { sp, callOpcode: op } = frame
  const takesValue = op === CALL || op === CALLCODE
  const at = sp - (takesValue ? 32 : 24) // of the offset of the input
  const sends = takesValue && !isZeroWord(stack, sp - 24)
  const called = state.accountOfWord(stack, sp - 16)
  if (sends && op === CALL && frame.isStatic) {
    state.recorder?.account(called, false)
    return failUnpaid(machine, frame, { access: accessGas(machine, called), makesAccount: false })
  }
  const inputFrom = toIndex(stack, at)
  const inputLength = toIndex(stack, at - 8)
  const outputTo = toIndex(stack, at - 16)
  const outputRoom = toIndex(stack, at - 24)
  const memoryEnd = Math.max(rangeEnd(inputFrom, inputLength), rangeEnd(outputTo, outputRoom))
  const access = accessGas(machine, called)
  let gas = frame.gas - access
  if (sends) gas -= rules.callValueGas
  const makesAccount = op === CALL && (rules.eip161 ? sends && state.isEmpty(called) : !called.exists)
  if (makesAccount) gas -= rules.callNewAccountGas
  gas = payMemory(machine, frame, gas, memoryEnd)
  // Before EIP-7928 an account that the price depends on is read first.
  const isPriced = !rules.eip8037Full && op === CALL && (sends || !rules.eip161) && frame.gas >= access
  state.recorder?.account(called, gas >= 0 || isPriced)
  if (gas < 0) return failUnpaid(machine, frame, { access, makesAccount })
  let code = state.code(called)
  if (rules.delegations && code.delegation !== undefined) {
    const target = state.account(code.delegation)
    gas -= accessGas(machine, target)
    if (gas < 0) return fail(frame, OUT_OF_GAS_WHILE_PRICING)
    state.recorder?.account(target)
    code = state.code(target)
  }
  const accountCharge = makesAccount && rules.eip8037 ? NEW_ACCOUNT_STATE_GAS : 0
  if (accountCharge !== 0) gas = chargeState(machine, frame, gas, accountCharge)
  if (gas < 0) return fail(frame, OUT_OF_GAS_WHILE_PRICING)
  const before = frame.gas
  frame.gas = gas
  const child = machine.frame(frame.depth + 1, called)
  if (!giveGas(machine, frame, child, sp - 8)) return failPassing(machine, frame, before - gas)
  if (rules.eip8037) enterStateGas(machine, child, rules.eip8037Full ? accountCharge : 0)
  frame.sp = at - 16 // above the result
  if (sends) addGas(child, STIPEND)
  child.inputOffset = inputLength === 0 ? 0 : frame.memoryBase + inputFrom
  child.inputLength = inputLength
  child.outputTo = outputTo
  child.outputRoom = outputRoom
  child.isCreate = false
  child.isStatic = frame.isStatic || op === STATICCALL
  const isOwn = op === CALL || op === STATICCALL // runs on the state of the called account
  child.account = isOwn ? called : frame.account
  child.caller = op === DELEGATECALL ? frame.caller : frame.account.word
  if (op === DELEGATECALL) copyWord(frame.value, 0, child.value, 0)
  else if (sends) copyWord(stack, sp - 24, child.value, 0)
  else setSmall(child.value, 0, 0)

  const value = sends ? wordToBigInt(stack, sp - 24) : 0n
  if (machine.hooks !== undefined) reportCall(machine, frame, child, called)
  if (machine.callees !== undefined) machine.callees.add(called)
  if (frame.depth >= MAX_DEPTH) return answer(machine, frame, child, CALL_DEPTH)
  if (sends && frame.account.balance < value) return answer(machine, frame, child, INSUFFICIENT_BALANCE)
  child.snapshot = state.snapshot()
  if (op === CALL && sends) transfer(machine, frame.account, called, value)
  else if (isOwn) touchCalled(machine, called)
  const precompile = precompileAt(machine, called.word)
  if (precompile !== undefined) return callPrecompile(machine, frame, child, precompile)
  if (code.length === 0) return answer(machine, frame, child)
  return begin(machine, frame, child, code)
}

/** Moves value between accounts; the sender has enough. */
export function transfer(machine: Machine, from: Account, to: Account, value: bigint): void {
  const { state, rules } = machine
  if (machine.onTransfer !== undefined) machine.onTransfer(from, to, value)
  if (rules.eip7708) logTransfer(machine, from, to, value)
  state.setBalance(from, from.balance - value)
  state.setBalance(to, to.balance + value)
}

/** Before EIP-161 a call without value creates the account; since then it lets an empty one be deleted. */
export function touchCalled({ state, rules }: Machine, account: Account): void {
  if (!rules.eip161 || (account.exists && state.isEmpty(account))) state.touch(account)
}

/** Ends a call or creation that executed nothing: no output, all gas returned. */
function answer(machine: Machine, frame: Frame, child: Frame, failure?: string): Frame {
  if (machine.hooks !== undefined) reportEnd(machine, child, failure)
  return resume(machine, frame, child, failure)
}

/** Like `answer`, without a report. */
function resume(machine: Machine, frame: Frame, child: Frame, failure?: string): Frame {
  const { stack, rules } = machine
  returnGas(frame, child)
  if (rules.eip8037) leaveStateGas(machine, frame, child, failure === undefined)
  frame.returnLength = 0
  setSmall(stack, frame.sp - 8, failure === undefined ? 1 : 0)
  return frame
}

function callPrecompile(machine: Machine, frame: Frame, child: Frame, precompile: Precompile): Frame {
  const { inputOffset, inputLength } = child
  const input = machine.memory.subarray(inputOffset, inputOffset + inputLength)
  const given = child.gas
  const output = runPrecompile(machine, child, precompile, input)
  if (output === undefined) {
    machine.state.revert(child.snapshot)
    return answer(machine, frame, child, precompileFailure(precompile, input, given))
  }
  if (machine.hooks !== undefined) reportEnd(machine, child, undefined, output)
  reserveReturnData(frame, output.length, machine.state.meter)
  setReturnData(frame, output, 0, output.length)
  copyOutput(machine, frame, child)
  returnGas(frame, child)
  setSmall(machine.stack, frame.sp - 8, 1)
  return frame
}

/** Returns why a precompile with that much gas failed. */
export function precompileFailure(precompile: Precompile, input: Uint8Array, gas: number): string {
  if (precompile.gas(input) > gas) return OUT_OF_GAS
  return precompile.failure?.(input) ?? PRECOMPILE_FAILED
}

/** Runs a precompile and charges the frame's gas. Returns its output; undefined, with no gas left, if it failed or the
 *  gas was not enough. */
export function runPrecompile(
  machine: Machine,
  frame: Frame,
  precompile: Precompile,
  input: Uint8Array,
): Uint8Array | undefined {
  const price = precompile.gas(input)
  if (price > machine.pace.precompileGas || precompile.isLong) checkBeforeLong(machine)
  const left = frame.gas - price
  const output = left < 0 ? undefined : precompile.run(input, machine.deadline)
  if (output === undefined) takeGas(frame)
  else frame.gas = left
  return output
}

/** Copies return data to the caller's output range. */
function copyOutput(machine: Machine, frame: Frame, { outputTo, outputRoom }: Frame): void {
  const { returnData, returnLength, memoryBase } = frame
  const length = Math.min(outputRoom, returnLength)
  if (length === 0) return
  const to = memoryBase + outputTo
  if (length <= 64) for (let i = 0; i < length; i++) machine.memory[to + i] = returnData[i]
  else machine.memory.set(returnData.subarray(0, length), to)
}

/** Prepares the callee's frame: its stack and memory start where the caller's end. */
function begin(machine: Machine, frame: Frame, child: Frame, code: Code): Frame {
  child.code = code
  child.pc = 0
  child.stackBase = frame.sp
  child.sp = frame.sp
  child.memoryBase = frame.memoryBase + frame.memorySize
  child.memorySize = 0
  child.returnLength = 0
  child.outputOffset = 0
  child.outputLength = 0
  child.failure = ''
  machine.reserveStack(child.stackBase)
  return child
}

/** CREATE and CREATE2 (Yellow Paper, 7; EIP-150, 161, 684, 1014, 2681, 2929, 3860, 7610, 8037, 8038). */
function beginCreate(machine: Machine, frame: Frame): Frame | undefined {
  const { stack, rules } = machine
  const { sp, callOpcode: op, account: creator } = frame
  const from = toIndex(stack, sp - 16)
  const length = toIndex(stack, sp - 24)
  if (frame.isStatic || length > rules.maxInitCodeSize) return failCreation(machine, frame)
  const wordGas = rules.initCodeWordGas + (op === CREATE2 ? HASH_WORD_GAS : 0)
  const gas = payMemory(machine, frame, frame.gas - wordGas * Math.ceil(length / 32), rangeEnd(from, length))
  if (gas < 0) return failCreation(machine, frame)
  frame.gas = gas
  const child = machine.frame(frame.depth + 1, creator)
  takeGas(child)
  if (rules.eip8037) enterStateGas(machine, child, 0)
  frame.sp = sp - (op === CREATE2 ? 24 : 16)
  const value = wordToBigInt(stack, sp - 8)
  const obstacle = creationObstacle(frame, value)
  // From Amsterdam on, traces omit a creation that cannot begin.
  const isTraced = machine.hooks !== undefined && !(obstacle !== undefined && rules.eip8037Full)
  if (obstacle !== undefined && !isTraced && machine.callees === undefined)
    return resume(machine, frame, child, obstacle)
  machine.state.meter.take(INIT_CODE_COPIES * length)
  const start = frame.memoryBase + from
  const initCode = length === 0 ? new Uint8Array(0) : machine.memory.slice(start, start + length)
  const address =
    op === CREATE2
      ? contractAddress2(creator.address, wordToBytes(stack, sp - 32), initCode)
      : contractAddress(creator.address, creator.nonce)
  if (obstacle === undefined && rules.eip8037Full && !chargeCreation(machine, frame, child, address)) {
    machine.state.meter.give(INIT_CODE_COPIES * length)
    return fail(frame, OUT_OF_GAS)
  }
  giveAllGas(machine, frame, child)
  if (isTraced) reportCreation(machine, frame, child, { to: address, input: initCode, value })
  if (machine.callees !== undefined) machine.callees.add(machine.state.account(address))
  if (obstacle !== undefined) {
    machine.state.meter.give(INIT_CODE_COPIES * length)
    return isTraced ? answer(machine, frame, child, obstacle) : resume(machine, frame, child, obstacle)
  }
  copyWord(stack, sp - 8, child.value, 0)
  if (!createAccount(machine, child, { creator, address, value })) {
    machine.state.meter.give(INIT_CODE_COPIES * length)
    takeGas(child)
    return answer(machine, frame, child, ADDRESS_COLLISION)
  }
  return begin(machine, frame, child, initCode.length === 0 ? EMPTY_CODE : createCode(initCode, EMPTY_CODE.hash))
}

/** Returns why the frame cannot create a contract; undefined if it can. */
function creationObstacle({ depth, account: creator }: Frame, value: bigint): string | undefined {
  if (depth >= MAX_DEPTH) return CALL_DEPTH
  if (creator.balance < value) return INSUFFICIENT_BALANCE
  return creator.nonce === MAX_NONCE ? NONCE_OVERFLOW : undefined
}

/** Charges the state gas of a new account, unless the address has one (EIP-8037). Returns false if the gas is not
 *  enough. */
function chargeCreation(machine: Machine, frame: Frame, child: Frame, address: Uint8Array): boolean {
  const { state } = machine
  const account = state.account(address)
  state.recorder?.created(account)
  const charge = state.isEmpty(account) ? NEW_ACCOUNT_STATE_GAS : 0
  const left = chargeState(machine, frame, frame.gas, charge)
  if (left < 0) return false
  frame.gas = left
  enterStateGas(machine, child, charge)
  return true
}

function dropInitCode({ state }: Machine, child: Frame): void {
  state.meter.give(INIT_CODE_COPIES * child.code.length)
  child.code = EMPTY_CODE
}

/** Inputs of a contract creation. */
export interface Creation {
  creator: Account
  address: Uint8Array // 20
  value: bigint
}

/** Increments the creator's nonce, creates the account, transfers the value, and prepares the frame of the init code
 *  except for code, gas and value. False on an address collision: the gas of the creation is lost. */
export function createAccount(machine: Machine, child: Frame, { creator, address, value }: Creation): boolean {
  const { state, rules } = machine
  state.setNonce(creator, creator.nonce + 1n)
  const account = state.account(address)
  state.recorder?.created(account)
  if (rules.eip2929) state.warmAccount(account)
  if (state.isOccupied(account, rules.eip7610)) return false
  child.snapshot = state.snapshot()
  state.create(account)
  if (rules.eip161) state.setNonce(account, 1n)
  if (value !== 0n) transfer(machine, creator, account, value)
  child.account = account
  child.caller = creator.word
  child.isCreate = true
  child.isStatic = false
  child.inputOffset = 0
  child.inputLength = 0
  return true
}

/** Passes the callee's result to its caller, whose frame continues. `succeeded` and `reverted` say how the callee
 *  ended; its state changes are already committed or reverted. */
export function leave(machine: Machine, child: Frame, succeeded: boolean, reverted: boolean): Frame {
  const frame = machine.frames[child.depth - 1]
  returnGas(frame, child)
  if (machine.rules.eip8037) leaveStateGas(machine, frame, child, succeeded)
  const length = child.isCreate && !reverted ? 0 : child.outputLength
  reserveReturnData(frame, length, machine.state.meter)
  setReturnData(frame, machine.memory, child.outputOffset, length)
  dropReturnData(child, machine.state.meter)
  if (child.isCreate) dropInitCode(machine, child)
  if (!child.isCreate) copyOutput(machine, frame, child)
  if (succeeded && child.isCreate) copyWord(child.account.word, 0, machine.stack, frame.sp - 8)
  else setSmall(machine.stack, frame.sp - 8, succeeded ? 1 : 0)
  return frame
}
