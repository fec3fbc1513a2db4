import { SELFDESTRUCT, STATICCALL } from '../../chain/eth/callOpcodes.js'
import type { Frame } from './frame.js'
import { totalGas } from './gas.js'
import { type Machine, precompileAt } from './machine.js'
import type { Account } from './state.js'
import { wordToBigInt } from './words/words.js'

const NO_BYTES = new Uint8Array(0)

/** Notifies the hooks of a call instruction whose callee is `child`. */
export function reportCall(machine: Machine, frame: Frame, child: Frame, called: Account): void {
  const { hooks, memory } = machine
  if (hooks === undefined) return
  const { callOpcode: opcode } = frame
  const { inputOffset, inputLength } = child
  const common = {
    opcode,
    from: frame.account.address,
    to: called.address,
    gas: totalGas(child),
    value: opcode === STATICCALL ? undefined : wordToBigInt(child.value, 0),
  }
  if (hooks.enterFrame === undefined) {
    hooks.enter?.({ ...common, input: memory.slice(inputOffset, inputOffset + inputLength) })
    return
  }
  const isPrecompile = precompileAt(machine, called.word) !== undefined
  const selector = isPrecompile || inputLength < 4 ? undefined : machine.view.getUint32(inputOffset)
  hooks.enterFrame({ ...common, inputLength, selector, isPrecompile })
}

/** Notifies the hooks of a CREATE or CREATE2 whose callee is `child`. */
export function reportCreation(
  machine: Machine,
  frame: Frame,
  child: Frame,
  { to, input, value }: { to: Uint8Array; input: Uint8Array; value: bigint },
): void {
  const { hooks } = machine
  const common = { opcode: frame.callOpcode, from: frame.account.address, to, gas: totalGas(child), value }
  if (hooks?.enterFrame === undefined) hooks?.enter?.({ ...common, input })
  else hooks.enterFrame({ ...common, inputLength: input.length, selector: undefined, isPrecompile: false })
}

/** Notifies the hooks of the end of a call that ran no frame: one that executed nothing, or a precompile, whose
 *  `output` is copied. */
export function reportEnd(machine: Machine, child: Frame, failure?: string, output: Uint8Array = NO_BYTES): void {
  const { hooks } = machine
  const gasLeft = totalGas(child)
  if (hooks?.exitFrame === undefined) hooks?.exit?.({ output: output.slice(), gasLeft, failure })
  else hooks.exitFrame({ gasLeft, outputLength: output.length, failure, codeHash: undefined })
}

/** Notifies the hooks of the end of a frame below the first. */
export function reportFrameEnd({ hooks, memory }: Machine, frame: Frame, failure: string | undefined): void {
  const { outputOffset, outputLength } = frame
  const gasLeft = totalGas(frame)
  if (hooks?.exitFrame === undefined) {
    hooks?.exit?.({ output: memory.slice(outputOffset, outputOffset + outputLength), gasLeft, failure })
    return
  }
  const codeHash = frame.isCreate && failure === undefined ? frame.account.codeHash : undefined
  hooks.exitFrame({ gasLeft, outputLength, failure, codeHash })
}

/** Notifies the hooks of a SELFDESTRUCT that sends `balance`. */
export function reportDestruct(machine: Machine, frame: Frame, to: Uint8Array, balance: bigint): void {
  const { hooks } = machine
  hooks?.enter?.({ opcode: SELFDESTRUCT, from: frame.account.address, to, input: NO_BYTES, gas: 0n, value: balance })
  hooks?.exit?.({ output: NO_BYTES, gasLeft: 0n })
}
