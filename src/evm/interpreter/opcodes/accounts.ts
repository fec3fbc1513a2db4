import { OUT_OF_GAS, OUT_OF_GAS_WHILE_PRICING } from '../failures.js'
import type { Frame } from '../frame.js'
import { countWork, type Machine, precompileOfFork } from '../machine.js'
import { reportDestruct } from '../reports.js'
import { NEW_ACCOUNT_STATE_GAS } from '../rules.js'
import type { Account } from '../state.js'
import { chargeState } from '../stateGas.js'
import { logTransfer } from '../transferLog.js'
import { setBigInt, setBytes, setNumber, setSmall } from '../words/words.js'
import { failPaid, free, notStatic, type Steps } from './step.js'

/** Gas of an access to a warm account or slot (EIP-2929). */
export const WARM_GAS = 100

/** Reading a stored account or slot takes as long as processing this many bytes. */
export const READ_WORK = 512

/** Instructions on accounts. */
export const ACCOUNTS: Steps = {
  BALANCE: balanceOf,
  EXTCODESIZE: externalCodeSize,
  EXTCODEHASH: externalCodeHash,
  SELFBALANCE: free(({ stack }, { account }, sp) => setBigInt(stack, sp, account.balance)),
  SELFDESTRUCT: notStatic(destruct),
}

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

function balanceOf(machine: Machine, _frame: Frame, gas: number, sp: number): number {
  const account = machine.state.accountOfWord(machine.stack, sp - 8)
  const left = gas - accessGas(machine, account)
  machine.state.recorder?.account(account, left >= 0)
  setBigInt(machine.stack, sp - 8, account.balance)
  return left
}

function externalCodeSize(machine: Machine, _frame: Frame, gas: number, sp: number): number {
  const account = machine.state.accountOfWord(machine.stack, sp - 8)
  const left = gas - accessGas(machine, account)
  machine.state.recorder?.account(account, left >= 0)
  if (left < 0) return left
  setNumber(machine.stack, sp - 8, machine.state.code(account).length)
  return left
}

function externalCodeHash(machine: Machine, _frame: Frame, gas: number, sp: number): number {
  const { state, stack } = machine
  const account = state.accountOfWord(stack, sp - 8)
  const left = gas - accessGas(machine, account)
  state.recorder?.account(account, left >= 0)
  if (state.isEmpty(account)) setSmall(stack, sp - 8, 0)
  else setBytes(stack, sp - 8, account.codeHash, 0, 32)
  return left
}

/** SELFDESTRUCT (EIP-150, 161, 2929, 6780, 7708, 8037, 8038, 8246). */
function destruct(machine: Machine, frame: Frame, gas: number, sp: number): number {
  const { state, stack, rules } = machine
  const { account } = frame
  frame.outputLength = 0
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
