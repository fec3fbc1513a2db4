import { CALL, CALLCODE, DELEGATECALL, SELFDESTRUCT, STATICCALL } from '../../chain/eth/callOpcodes.js'
import { precompileAt } from '../interpreter/machine.js'
import { LIMBS, setBytes } from '../interpreter/words/words.js'
import type { TracedCall } from './callTree.js'
import type { Execution } from './execution.js'
import { parityError } from './parityErrors.js'

/** Options of a flat trace. */
export interface FlatOptions {
  /** The error of a call in other words. */
  errorOf?(call: TracedCall, failure: string): string
  /** True for calls to omit, with all below them. Not called for the first. */
  isHidden(call: TracedCall): boolean
}

/** A call of a flat trace. */
export interface FlatTraceCall {
  readonly call: TracedCall
  /** Indexes of the calls around it and of itself, each among the calls of the one before. */
  readonly traceAddress: readonly number[]
  /** Number of calls that it makes itself. */
  readonly subtraces: number
  /** Set if it failed. */
  readonly error: string | undefined
  /** False for a failure other than a revert, and for SELFDESTRUCT. */
  readonly hasResult: boolean
}

/** Flattens the call and all below it, parents first. */
export function flattenCallTree(root: TracedCall, { errorOf, isHidden }: FlatOptions): FlatTraceCall[] {
  const out: FlatTraceCall[] = []
  const add = (call: TracedCall, traceAddress: readonly number[]) => {
    const calls = call.calls.filter((each) => !isHidden(each))
    const { failure } = call
    out.push({
      call,
      traceAddress,
      subtraces: calls.length,
      error: failure !== undefined && errorOf ? errorOf(call, failure) : failure,
      hasResult: (failure === undefined || failure === 'execution reverted') && call.opcode !== SELFDESTRUCT,
    })
    for (const [i, each] of calls.entries()) add(each, [...traceAddress, i])
  }
  add(root, [])
  return out
}

/** Returns a test for addresses (20 bytes) of precompiles. */
export function precompilesOf({ machine }: Execution): (address: Uint8Array) => boolean {
  const word = new Int32Array(LIMBS)
  return (address) => {
    setBytes(word, 0, address, 0, 20)
    return precompileAt(machine, word) !== undefined
  }
}

const CALLS: ReadonlySet<number> = new Set([CALL, CALLCODE, DELEGATECALL, STATICCALL])

/** How `trace_` methods show calls: OpenEthereum, Erigon, Nethermind and reth omit nested calls of a precompile without
 *  value; a DELEGATECALL has its caller's value. */
export function parityFlatOptions(execution: Execution): FlatOptions {
  const isPrecompile = precompilesOf(execution)
  const callsPrecompile = ({ opcode, to }: TracedCall) => CALLS.has(opcode) && isPrecompile(to)
  return {
    errorOf: (call, failure) => parityError(failure, callsPrecompile(call)),
    isHidden: (call) => (call.value ?? 0n) === 0n && callsPrecompile(call),
  }
}
