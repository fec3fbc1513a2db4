/** Instructions that are too long for the loop of `runFrame`. Each gets the stack pointer `sp` and the gas left after
 *  the constant part; most return the gas left, negative if it was not enough. Operands are at sp - 8, sp - 16 and so
 *  on; the result replaces the last operand. */
import { keccak256 } from '../../chain/crypto.js'
import { OUT_OF_GAS, OUT_OF_GAS_WHILE_PRICING, SENTRY_FAILED, WRITE_PROTECTION } from './failures.js'
import type { Frame } from './frame.js'
import { countWork, type Machine, payMemory, precompileOfFork } from './machine.js'
import { reportDestruct } from './reports.js'
import { NEW_ACCOUNT_STATE_GAS } from './rules.js'
import { type Account, CURRENT_ZERO, NEW_ZERO, ORIGINAL_ZERO } from './state.js'
import { chargeState, refillState } from './stateGas.js'
import { storageGas, storageRefund } from './storageGas.js'
import { logTransfer } from './transferLog.js'
import { exponentiate } from './words/multiply.js'
import { loadWord, setBigInt, setBytes, setNumber, setSmall, toIndex, toNumber, usedBytes } from './words/words.js'

// EIP-2929.
const COLD_SLOT_GAS = 2100
const WARM_GAS = 100

// Reading a stored account or slot takes as long as processing this many bytes.
const READ_WORK = 512
// A byte of an exponent takes eight to sixteen multiplications: 32 of them take 120 µs.
const EXPONENT_BYTE_WORK = 1024

const HASH_WORD_GAS = 6
const LOG_BYTE_GAS = 8

/** Access gas of an account, which it warms: 0 before Berlin, where the constant gas includes it. */
export function accessGas(machine: Machine, account: Account): number {
  if (!machine.rules.eip2929) {
    countWork(machine, READ_WORK)
    return 0
  }
  if (!isCold(machine, account)) return WARM_GAS
  countWork(machine, READ_WORK)
  return machine.rules.coldAccountGas
}

/** True on the first access, which warms it. Precompiles are always warm. */
function isCold(machine: Machine, account: Account): boolean {
  return machine.state.warmAccount(account) && precompileOfFork(machine.precompiles, account.word) === undefined
}

/** End of a memory range; 0 for an empty one. */
export function rangeEnd(offset: number, length: number): number {
  return length === 0 ? 0 : offset + length
}

/** Words needed for that many bytes. */
export const wordsOf = (length: number) => Math.ceil(length / 32)

export function exponent(machine: Machine, gas: number, sp: number): number {
  const { stack, rules } = machine
  const bytes = usedBytes(stack, sp - 16)
  const left = gas - rules.expByteGas * bytes
  if (left < 0) return left
  countWork(machine, EXPONENT_BYTE_WORK * bytes)
  exponentiate(stack, sp - 8, sp - 16)
  return left
}

export function hashMemory(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const length = toIndex(stack, sp - 16)
  const left = payMemory(machine, frame, gas - HASH_WORD_GAS * wordsOf(length), rangeEnd(offset, length))
  if (left < 0) return left
  countWork(machine, length)
  const from = frame.memoryBase + offset
  const hash = keccak256(length === 0 ? machine.memory.subarray(0, 0) : machine.memory.subarray(from, from + length))
  setBytes(stack, sp - 16, hash, 0, 32)
  return left
}

export function balanceOf(machine: Machine, gas: number, sp: number): number {
  const account = machine.state.accountOfWord(machine.stack, sp - 8)
  const left = gas - accessGas(machine, account)
  machine.state.recorder?.account(account, left >= 0)
  setBigInt(machine.stack, sp - 8, account.balance)
  return left
}

export function selfBalance({ stack }: Machine, { account }: Frame, sp: number): void {
  setBigInt(stack, sp, account.balance)
}

export function loadCallData({ stack, memory, view }: Machine, frame: Frame, sp: number): void {
  const { inputOffset, inputLength } = frame
  const offset = toIndex(stack, sp - 8)
  if (offset + 32 <= inputLength) {
    loadWord(view, inputOffset + offset, stack, sp - 8)
    return
  }
  if (offset >= inputLength) {
    setSmall(stack, sp - 8, 0)
    return
  }
  const word = new Uint8Array(32)
  word.set(memory.subarray(inputOffset + offset, inputOffset + inputLength))
  setBytes(stack, sp - 8, word, 0, 32)
}

export function externalCodeSize(machine: Machine, gas: number, sp: number): number {
  const account = machine.state.accountOfWord(machine.stack, sp - 8)
  const left = gas - accessGas(machine, account)
  machine.state.recorder?.account(account, left >= 0)
  if (left < 0) return left
  setNumber(machine.stack, sp - 8, machine.state.code(account).length)
  return left
}

export function externalCodeHash(machine: Machine, gas: number, sp: number): number {
  const { state, stack } = machine
  const account = state.accountOfWord(stack, sp - 8)
  const left = gas - accessGas(machine, account)
  state.recorder?.account(account, left >= 0)
  if (state.isEmpty(account)) setSmall(stack, sp - 8, 0)
  else setBytes(stack, sp - 8, account.codeHash, 0, 32)
  return left
}

export function blockHash(machine: Machine, sp: number): void {
  const { stack, environment } = machine
  const { block } = environment
  const number = toNumber(stack, sp - 8)
  if (number >= block.number || number < block.number - 256) {
    setSmall(stack, sp - 8, 0)
    return
  }
  countWork(machine, READ_WORK)
  setBytes(stack, sp - 8, block.blockHash(number), 0, 32)
}

export function blobHash({ stack, environment }: Machine, sp: number): void {
  const { blobVersionedHashes } = environment.transaction
  const index = toIndex(stack, sp - 8)
  if (index < blobVersionedHashes.length) setBytes(stack, sp - 8, blobVersionedHashes[index], 0, 32)
  else setSmall(stack, sp - 8, 0)
}

export function storeByte(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const left = payMemory(machine, frame, gas, offset + 1)
  if (left >= 0) machine.memory[frame.memoryBase + offset] = stack[sp - 16]
  return left
}

export function loadStorage(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { state, stack, rules } = machine
  const slot = state.slot(frame.account, stack, sp - 8)
  let left = gas
  if (!rules.eip2929) countWork(machine, READ_WORK)
  else if (state.warmSlot(slot)) {
    left -= COLD_SLOT_GAS
    countWork(machine, READ_WORK)
  } else left -= WARM_GAS
  state.recorder?.slot(slot, left >= 0)
  state.readSlot(slot, stack, sp - 8)
  return left
}

/** Fails an instruction after it was paid for. Returns -1, as if no gas were left. */
export function failPaid(machine: Machine, frame: Frame, price: number, failure: string): number {
  machine.failedPrice = price
  frame.failure = failure
  return -1
}

export function storeStorage(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { state, stack, rules } = machine
  const { storage } = rules
  if (gas <= storage.sentry) {
    state.recorder?.slot(state.slot(frame.account, stack, sp - 8), false)
    frame.failure = SENTRY_FAILED
    return -1
  }
  const slot = state.slot(frame.account, stack, sp - 8)
  const change = state.slotChange(slot, stack, sp - 16)
  // The sentry exceeds the access price, so from here on the slot counts as accessed.
  state.recorder?.write(slot)
  let left = gas - storageGas(storage, change)
  if (rules.eip2929 && state.warmSlot(slot)) left -= storage.cold
  // Refunds before the charge, as geth does: its traces show the refund at a failing instruction.
  const refund = storageRefund(storage, change)
  if (refund !== 0) state.addRefund(refund)
  if (left < 0) return left
  if (storage.stateGas !== 0) {
    const price = gas - left
    left = slotStateGas(machine, frame, left, change)
    if (left < 0) return failPaid(machine, frame, price, OUT_OF_GAS)
  }
  state.writeSlot(slot, stack, sp - 16)
  return left
}

/** Charges state gas for a slot that this transaction sets, and refills it when the slot is cleared again
 *  (EIP-8037). */
function slotStateGas(machine: Machine, frame: Frame, gas: number, change: number): number {
  const { stateGas } = machine.rules.storage
  if ((change & ORIGINAL_ZERO) === 0) return gas
  const isZero = (change & CURRENT_ZERO) !== 0
  const becomesZero = (change & NEW_ZERO) !== 0
  if (isZero && !becomesZero) return chargeState(machine, frame, gas, stateGas)
  return !isZero && becomesZero ? refillState(machine, frame, gas, stateGas) : gas
}

export function log(machine: Machine, frame: Frame, gas: number, sp: number, topicCount: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const length = toIndex(stack, sp - 16)
  const left = payMemory(machine, frame, gas - LOG_BYTE_GAS * length, rangeEnd(offset, length))
  if (left < 0) return left
  if (frame.isStatic) return failPaid(machine, frame, gas - left, WRITE_PROTECTION)
  countWork(machine, length)
  if (!machine.keepsLogs) return left
  const topics = topicsAt(machine, sp - 24, topicCount)
  const data = new Uint8Array(length)
  if (length > 0) copyBytes(machine.memory, frame.memoryBase + offset, data)
  const entry = { address: frame.account.address, topics, data }
  machine.state.addLog(entry)
  if (machine.hooks !== undefined) machine.hooks.log?.(entry)
  return left
}

/** The topics on the stack from `at`. Array literals take a third of the memory of arrays that have grown. */
function topicsAt({ topics, stack }: Machine, at: number, count: number): Uint8Array[] {
  if (count === 0) return []
  const first = topics.of(stack, at)
  if (count === 1) return [first]
  const second = topics.of(stack, at - 8)
  if (count === 2) return [first, second]
  const third = topics.of(stack, at - 16)
  return count === 3 ? [first, second, third] : [first, second, third, topics.of(stack, at - 24)]
}

/** Fills `out` with bytes from `from` on. A single word, the usual case, is copied faster without a view. */
function copyBytes(bytes: Uint8Array, from: number, out: Uint8Array): void {
  if (out.length > 32) out.set(bytes.subarray(from, from + out.length))
  else for (let i = 0; i < out.length; i++) out[i] = bytes[from + i]
}

/** RETURN and REVERT. */
export function setOutput(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const length = toIndex(stack, sp - 16)
  const left = payMemory(machine, frame, gas, rangeEnd(offset, length))
  frame.outputOffset = length === 0 ? 0 : frame.memoryBase + offset
  frame.outputLength = length
  return left
}

/** SELFDESTRUCT (EIP-150, 161, 2929, 6780, 7708, 8037, 8038, 8246). */
export function destruct(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { state, stack, rules } = machine
  const { account } = frame
  const beneficiary = state.accountOfWord(stack, sp - 8)
  let left = gas
  if (rules.eip2929 && isCold(machine, beneficiary)) {
    left -= rules.coldAccountGas
    if (left < 0) {
      state.recorder?.account(beneficiary, false)
      frame.failure = OUT_OF_GAS_WHILE_PRICING
      if (rules.eip8037) machine.failedPrice = gas - left
      return left
    }
  }
  state.recorder?.account(beneficiary)
  const makesAccount = rules.eip161 ? account.balance !== 0n && state.isEmpty(beneficiary) : !beneficiary.exists
  if (makesAccount) left -= rules.destructNewAccountGas
  if (left < 0) {
    // geth refunds before it charges, which its traces show; the failing frame reverts it.
    if (rules.destructRefund > 0 && state.destruct(account)) state.addRefund(rules.destructRefund)
    return left
  }
  if (makesAccount && rules.eip8037) {
    const price = gas - left
    left = chargeState(machine, frame, left, NEW_ACCOUNT_STATE_GAS)
    if (left < 0) return failPaid(machine, frame, price, OUT_OF_GAS)
  }
  const { balance } = account
  if (machine.hooks !== undefined) reportDestruct(machine, frame, beneficiary.address, balance)
  if (machine.callees !== undefined) machine.callees.add(beneficiary)
  if (machine.onTransfer !== undefined && balance !== 0n) machine.onTransfer(account, beneficiary, balance)
  if (rules.eip7708 && balance !== 0n) logTransfer(machine, account, beneficiary, balance)
  if (balance === 0n && state.isEmpty(beneficiary)) state.touch(beneficiary)
  if (rules.keepsOldDestructed && !state.wasCreated(account)) {
    if (beneficiary !== account) {
      state.setBalance(account, 0n)
      state.setBalance(beneficiary, beneficiary.balance + balance)
    } else {
      state.touch(beneficiary)
    }
    return left
  }
  if (rules.eip8246) {
    if (beneficiary !== account) {
      state.setBalance(account, 0n)
      state.setBalance(beneficiary, beneficiary.balance + balance)
    }
    state.destruct(account)
    return left
  }
  state.setBalance(beneficiary, beneficiary.balance + balance)
  state.setBalance(account, 0n)
  // A balance sent to itself is burned, too.
  if (state.destruct(account) && rules.destructRefund > 0) state.addRefund(rules.destructRefund)
  return left
}
