import { createCode } from './code.js'
import { CODE_STORE_OUT_OF_GAS, codeTooLarge, INVALID_CODE } from './failures.js'
import { type Frame, HALTED, SUCCEEDED } from './frame.js'
import { takeGas } from './gas.js'
import type { Machine } from './machine.js'
import { CODE_BYTE_STATE_GAS } from './rules.js'
import { chargeState, undoStateGas } from './stateGas.js'

/** Stores the code of a creation, or reverts a failed frame. Returns the final status. */
export function settle(machine: Machine, frame: Frame, status: number): number {
  let settled = status
  if (frame.isCreate && status === SUCCEEDED && !storeCode(machine, frame)) {
    settled = HALTED
    frame.outputLength = 0
  }
  if (settled !== SUCCEEDED) {
    machine.state.revert(frame.snapshot)
    if (machine.rules.eip8037) undoStateGas(machine, frame)
  }
  if (settled === HALTED) takeGas(frame)
  return settled
}

/** Stores the output as the account's code (Yellow Paper, 7; EIP-2, 170, 3541, 7954, 8037). False, with the reason in
 *  `failure`, if it is invalid. */
function storeCode(machine: Machine, frame: Frame): boolean {
  const { rules, state, memory } = machine
  const { outputOffset, outputLength: length } = frame
  const isTooLarge = length > rules.maxCodeSize
  if (rules.eip3541 && length > 0 && memory[outputOffset] === 0xef) frame.failure = INVALID_CODE
  else if (isTooLarge && rules.eip8037Full) frame.failure = codeTooLarge(length, rules.maxCodeSize)
  else {
    let gas = frame.gas - rules.codeByteGas * length - rules.codeWordGas * Math.ceil(length / 32)
    if (gas >= 0 && rules.eip8037Full) gas = chargeState(machine, frame, gas, CODE_BYTE_STATE_GAS * length)
    if (gas >= 0 && isTooLarge) {
      frame.failure = codeTooLarge(length, rules.maxCodeSize)
      return false
    }
    if (gas >= 0) {
      frame.gas = gas
      if (length > 0) state.setCode(frame.account, createCode(memory.slice(outputOffset, outputOffset + length)))
      return true
    }
    frame.failure = CODE_STORE_OUT_OF_GAS
    // Before Homestead the account was left without code and the creation succeeded.
    if (!rules.eip2) {
      frame.outputLength = 0
      return true
    }
  }
  return false
}
