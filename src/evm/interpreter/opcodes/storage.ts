import type { StoragePrices } from '../../../chain/eth/forks/fork.js'
import { OUT_OF_GAS, SENTRY_FAILED, WRITE_PROTECTION } from '../failures.js'
import type { Frame } from '../frame.js'
import { countWork, type Machine } from '../machine.js'
import {
  CURRENT_IS_ORIGINAL,
  CURRENT_ZERO,
  NEW_IS_CURRENT,
  NEW_IS_ORIGINAL,
  NEW_ZERO,
  ORIGINAL_ZERO,
} from '../state.js'
import { chargeState, refillState } from '../stateGas.js'
import { READ_WORK, WARM_GAS } from './accounts.js'
import { failPaid, free, notStatic, type Step, type Steps } from './step.js'

const COLD_SLOT_GAS = 2100 // EIP-2929

const storeTransient: Step = ({ state, stack }, frame, gas, sp) => {
  if (frame.isStatic) frame.failure = WRITE_PROTECTION
  else state.writeTransient(frame.account, stack, sp - 8, sp - 16)
  return gas
}

/** Storage and transient storage. */
export const STORAGE: Steps = {
  SLOAD: loadStorage,
  SSTORE: notStatic(storeStorage),
  TLOAD: free(({ state, stack }, { account }, sp) => state.readTransient(account, stack, sp - 8, sp - 8)),
  TSTORE: storeTransient,
}

function loadStorage(machine: Machine, frame: Frame, gas: number, sp: number): number {
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

function storeStorage(machine: Machine, frame: Frame, gas: number, sp: number): number {
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

/** Gas of an SSTORE without the cold-slot surcharge. `change` is the result of `EvmState.slotChange`. Yellow Paper,
 *  appendix H; EIP-1283, EIP-2200, EIP-2929. */
function storageGas({ net, noChange, set, reset }: StoragePrices, change: number): number {
  if (!net) return (change & CURRENT_ZERO) !== 0 && (change & NEW_ZERO) === 0 ? set : reset
  if ((change & NEW_IS_CURRENT) !== 0 || (change & CURRENT_IS_ORIGINAL) === 0) return noChange
  return (change & ORIGINAL_ZERO) !== 0 ? set : reset
}

/** Change of the refund by an SSTORE; may be negative. */
function storageRefund({ net, noChange, set, reset, clearRefund }: StoragePrices, change: number): number {
  const clears = (change & NEW_ZERO) !== 0
  if (!net) return clears && (change & CURRENT_ZERO) === 0 ? clearRefund : 0
  if ((change & NEW_IS_CURRENT) !== 0) return 0
  const hadValue = (change & ORIGINAL_ZERO) === 0
  if ((change & CURRENT_IS_ORIGINAL) !== 0) return hadValue && clears ? clearRefund : 0
  let refund = 0
  if (hadValue) {
    if ((change & CURRENT_ZERO) !== 0) refund -= clearRefund
    else if (clears) refund += clearRefund
  }
  if ((change & NEW_IS_ORIGINAL) !== 0) refund += (hadValue ? reset : set) - noChange
  return refund
}
