import { recordCalls, type TracedCall } from '../../evm/tracing/callTree.js'
import type { Applied } from '../../evm/tracing/execution.js'
import { precompilesOf } from '../../evm/tracing/flatCalls.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { requireTracedTransaction } from '../debug/traceErrors.js'

/** A re-executed transaction. */
export interface TracedTransaction {
  readonly index: number
  readonly root: TracedCall
  readonly applied: Applied
  isPrecompile(address: Uint8Array): boolean
}

/** Transactions `first` to `last` of a block with their calls, in order. @throws StateUnavailable, DeadlineExceeded,
 *  CallMemoryExceeded */
export async function traceBlockCalls(
  { loadTraces, deadline, limits }: RpcContext,
  block: StoredBlock,
  range: { first?: number; last?: number } = {},
): Promise<TracedTransaction[]> {
  const traces = await loadTraces()
  const traced: TracedTransaction[] = []
  traces.replay(block, { ...range, deadline, memoryBytes: limits.callMemoryBytes }, (execution) => {
    const isPrecompile = precompilesOf(execution)
    const { hooks, root } = recordCalls(execution.journal.meter)
    const applied = execution.run(hooks)
    traced.push({ index: execution.index, root: root(), applied, isPrecompile })
  })
  return traced
}

/** A transaction with its calls. @throws RpcError if no stored transaction has the hash */
export async function traceTransactionCalls(context: RpcContext, hash: Uint8Array): Promise<TracedTransaction> {
  const { block, index } = requireTracedTransaction(context, hash)
  const [traced] = await traceBlockCalls(context, block, { first: index, last: index })
  return traced
}

/** The calls that took effect, at and below the call, in order of their start. */
export function* effectiveCalls(call: TracedCall): Generator<TracedCall> {
  if (call.failure !== undefined) return
  yield call
  for (const each of call.calls) yield* effectiveCalls(each)
}
