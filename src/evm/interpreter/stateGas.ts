import type { Frame } from './frame.js'
import { addGas } from './gas.js'
import type { Machine } from './machine.js'

/* State gas (EIP-8037): growth of the state is paid from the transaction's reservoir and, when that is empty, from the
 * frame's gas. What is paid from the frame's gas is `spilled`. The reservoir and the frame's `spilled` are never both
 * above zero. */

/** Begins a message with that reservoir. */
export function beginStateGas(machine: Machine, first: Frame, reservoir: number): void {
  machine.reservoir = reservoir
  machine.stateUsed = 0
  enterStateGas(machine, first, 0)
}

/** Begins a frame, for whose account `accountCharge` was charged. */
export function enterStateGas({ reservoir, stateUsed }: Machine, child: Frame, accountCharge: number): void {
  child.spilled = 0
  child.reservoirBefore = reservoir
  child.stateUsedBefore = stateUsed
  child.accountCharge = accountCharge
}

/** Charges state gas to a frame with `gas` left. Returns the gas left; negative, with nothing charged, if it was not
 *  enough. */
export function chargeState(machine: Machine, frame: Frame, gas: number, amount: number): number {
  const reserved = machine.reservoir < amount ? machine.reservoir : amount
  const spill = amount - reserved
  if (spill > gas) return -1
  machine.reservoir -= reserved
  machine.stateUsed += amount
  frame.spilled += spill
  return gas - spill
}

/** Refunds a charge, also one of another frame. Returns the gas of the frame. */
export function refillState(machine: Machine, frame: Frame, gas: number, amount: number): number {
  const unspilled = frame.spilled < amount ? frame.spilled : amount
  frame.spilled -= unspilled
  machine.reservoir += amount - unspilled
  machine.stateUsed -= amount
  return gas + unspilled
}

/** Undoes the charges of a failed frame. The gas it paid with returns to it, and is lost if it halted. */
export function undoStateGas(machine: Machine, frame: Frame): void {
  machine.reservoir = frame.reservoirBefore
  machine.stateUsed = frame.stateUsedBefore
  addGas(frame, frame.spilled)
  frame.spilled = 0
}

/** Ends a call or creation of `frame`, after its gas was returned. A successful one passes on what it spilled, and what
 *  it freed repays it (EIPs#12265). For a failed one, the charge for its account is refunded. */
export function leaveStateGas(machine: Machine, frame: Frame, child: Frame, succeeded: boolean): void {
  if (!succeeded) {
    if (child.accountCharge !== 0) addGas(frame, refillState(machine, frame, 0, child.accountCharge))
    return
  }
  frame.spilled += child.spilled
  const repaid = machine.reservoir < frame.spilled ? machine.reservoir : frame.spilled
  if (repaid === 0) return
  machine.reservoir -= repaid
  frame.spilled -= repaid
  addGas(frame, repaid)
}
