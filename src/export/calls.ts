import { recordTraces } from '../evm/tracing/recordTraces.js'
import type { CallTrace } from '../store/rows/callTraces.js'
import type { StoredBlock } from '../store/rows/types.js'
import type { ExportSource } from './source.js'

/** The calls of each transaction of a block, in the order in which they began: from the trace index where it has the
 *  block, else by executing it again. */
export function callsOf(source: ExportSource, block: StoredBlock): readonly (readonly CallTrace[])[] {
  const { traceIndex, traces, addressOf } = source
  const indexed = traceIndex.calls(block)
  if (indexed !== undefined) {
    return indexed.map((calls) =>
      calls.map((call) => ({ ...call, from: addressOf(call.from), to: addressOf(call.to) })),
    )
  }
  return recordTraces(traces(), block)
}
