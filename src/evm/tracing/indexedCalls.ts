import { EMPTY_BYTES } from '../../lib/bytes.js'
import type { CallTrace } from '../../store/rows/callTraces.js'
import { placeCalls } from '../../store/rows/placeCalls.js'
import type { TracedCall } from './callTree.js'
import { type FlatTraceCall, flattenCallTree } from './flatCalls.js'
import { parityError } from './parityErrors.js'

/** A call of the trace index in the form of a trace. */
export interface IndexedTraceCall extends FlatTraceCall {
  /** False if its input, output or code is missing, and empty in `call`. */
  readonly isWhole: boolean
}

/** Returns the calls of a transaction from the trace index as `trace_` methods show them, parents first. `input` is
 *  that of the transaction, `addressOf` returns the 20 bytes of an id. */
export function composeIndexedCalls(
  calls: readonly CallTrace<number>[],
  { input, addressOf }: { input: Uint8Array; addressOf(id: number): Uint8Array },
): IndexedTraceCall[] {
  const precompiles = new Set<TracedCall>()
  const open: TracedCall[] = []
  const areWhole = placeCalls(calls).map(({ call }) => {
    const { depth, opcode, gas, gasUsed, value, failure } = call
    const ends = { from: addressOf(call.from), to: addressOf(call.to) }
    const own = { input: depth === 0 ? input : EMPTY_BYTES, output: EMPTY_BYTES }
    const traced: TracedCall = { opcode, ...ends, gas, gasUsed, value, failure, ...own, calls: [], logs: [] }
    open[depth] = traced
    open[depth - 1]?.calls.push(traced)
    if (call.isPrecompile) precompiles.add(traced)
    return (depth === 0 || call.inputLength === 0) && call.outputLength === 0
  })
  const flat = flattenCallTree(open[0], {
    errorOf: (call, failure) => parityError(failure, precompiles.has(call)),
    isHidden: () => false, // the index left them out
  })
  return flat.map((each, i) => ({ ...each, isWhole: areWhole[i] }))
}
