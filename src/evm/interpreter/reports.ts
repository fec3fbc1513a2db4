import type { Frame } from './frame.js'
import { totalGas } from './gas.js'
import type { Machine } from './machine.js'
import { wordToBigInt, wordToBytes } from './words/words.js'

const DELEGATECALL = 0xf4
const STATICCALL = 0xfa
const SELFDESTRUCT = 0xff

const NO_BYTES = new Uint8Array(0)

/** Notifies the hooks of a call instruction whose callee is `child`. */
export function reportCall(machine: Machine, frame: Frame, child: Frame, to: Uint8Array): void {
  const { callOpcode: opcode } = frame
  machine.hooks?.enter?.({
    opcode,
    from: opcode === DELEGATECALL ? frame.account.address : wordToBytes(child.caller, 0, 20),
    to,
    input: machine.memory.slice(child.inputOffset, child.inputOffset + child.inputLength),
    gas: totalGas(child),
    value: opcode === STATICCALL ? undefined : wordToBigInt(child.value, 0),
  })
}

/** Notifies the hooks of a CREATE or CREATE2 whose callee is `child`. */
export function reportCreation(
  machine: Machine,
  frame: Frame,
  child: Frame,
  { to, input, value }: { to: Uint8Array; input: Uint8Array; value: bigint },
): void {
  const from = frame.account.address
  machine.hooks?.enter?.({ opcode: frame.callOpcode, from, to, input, gas: totalGas(child), value })
}

/** Notifies the hooks of the end of a call: one that executed nothing, a precompile, or a frame. */
export function reportEnd(machine: Machine, child: Frame, failure?: string, output: Uint8Array = NO_BYTES): void {
  machine.hooks?.exit?.({ output, gasLeft: totalGas(child), failure })
}

/** Notifies the hooks of a SELFDESTRUCT that sends `balance`. */
export function reportDestruct(machine: Machine, frame: Frame, to: Uint8Array, balance: bigint): void {
  const { hooks } = machine
  hooks?.enter?.({ opcode: SELFDESTRUCT, from: frame.account.address, to, input: NO_BYTES, gas: 0n, value: balance })
  hooks?.exit?.({ output: NO_BYTES, gasLeft: 0n })
}
