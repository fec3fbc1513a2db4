import { hasExternalRewards } from '../../evm/tracing/blockRewards.js'
import { composeIndexedCalls } from '../../evm/tracing/indexedCalls.js'
import type { TraceService } from '../../evm/tracing/traceService.js'
import type { CallTrace } from '../../store/rows/callTraces.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { MissingState } from '../../store/state/missingState.js'
import type { RpcContext } from '../core/context.js'
import { formatFlatCall } from '../debug/tracers/flatCalls.js'
import { type LocalTrace, placeTraces, traceRewards, traceTransaction, visitTraces } from './flatTraces.js'

/** What a filter selects. */
export interface TraceSelection {
  /** Ids of the addresses that a call must have as sender or recipient; undefined: calls of any addresses match. */
  readonly ids: ReadonlySet<number> | undefined
  matches(trace: LocalTrace): boolean
  /** Accounts, 20 bytes each, whose rewards may match; undefined: those of any accounts do. */
  readonly rewarded: readonly Uint8Array[] | undefined
}

/** Receives the traces that match. */
export interface TraceOutput {
  /** Number of traces received so far. */
  readonly count: number
  /** Receives the next trace. One that is not part of the result may lack input, output and code. */
  write(trace: LocalTrace): void
  /** True if one of the traces with the numbers [from, to) is part of the result. */
  hasPartOf(from: number, to: number): boolean
}

/** Writes the traces of a block that match, in order. Where the trace index has the block, only transactions are
 *  executed again whose inputs or outputs are part of the result.
 *  @throws StateUnavailable, DeadlineExceeded, CallMemoryExceeded */
export function writeMatches(
  context: RpcContext,
  { traces, block, selection }: { traces: TraceService; block: StoredBlock; selection: TraceSelection },
  out: TraceOutput,
): void {
  const { matches, ids } = selection
  const write = (all: readonly LocalTrace[]) => {
    for (const trace of all) if (matches(trace)) out.write(trace)
  }
  const indexed = context.traceIndex.calls(block, ids)
  if (indexed === undefined) {
    visitTraces(context, { traces, block }, (trace) => write([trace]))
    return
  }
  const found: { index: number; traces: readonly LocalTrace[]; isWhole: boolean }[] = []
  let next = out.count
  for (const [index, calls] of indexed.entries()) {
    if (ids !== undefined && !calls.some(({ from, to }) => ids.has(from) || ids.has(to))) continue
    const composed = composeTraces(context, block, { index, calls })
    const own = composed.filter(({ trace }) => matches(trace))
    if (own.length === 0) continue
    const isWhole = own.every((each) => each.isWhole) || !out.hasPartOf(next, next + own.length)
    found.push({ index, traces: own.map(({ trace }) => trace), isWhole })
    next += own.length
  }
  const executed = execute(
    context,
    { traces, block },
    found.filter(({ isWhole }) => !isWhole).map(({ index }) => index),
  )
  for (const each of found) write(executed.get(each.index) ?? each.traces)
  if (mayReward(context, block, selection)) write(traceRewards(context, { traces, block }))
}

/** False if no reward of the block can match. Where system calls pay rewards, the accounts that got one have another
 *  balance after the block: except for a reward of zero, and a contract that spent as much in the block to the wei. */
function mayReward(
  { chain, state }: RpcContext,
  { header }: StoredBlock,
  { rewarded }: Pick<TraceSelection, 'rewarded'>,
): boolean {
  if (rewarded === undefined || !hasExternalRewards(chain.spec())) return true
  const { number } = header
  const factsAt = (address: Uint8Array, at: number) => [state.balance(address, at), state.nonce(address, at)]
  return rewarded.some((address) => {
    try {
      const before = factsAt(address, number - 1)
      return factsAt(address, number).some((fact, i) => fact !== before[i])
    } catch (error) {
      if (error instanceof MissingState) return false // sparse state has what its blocks change
      throw error
    }
  })
}

/** Executes transactions of a block again. Returns their traces by index. */
function execute(
  { deadline, limits }: RpcContext,
  { traces, block }: { traces: TraceService; block: StoredBlock },
  indexes: readonly number[],
): Map<number, readonly LocalTrace[]> {
  const executed = new Map<number, readonly LocalTrace[]>()
  if (indexes.length === 0) return executed
  const wanted = new Set(indexes)
  const range = { first: indexes[0], last: indexes[indexes.length - 1], deadline, memoryBytes: limits.callMemoryBytes }
  traces.replay(block, range, (execution) => {
    if (wanted.has(execution.index)) executed.set(execution.index, traceTransaction(execution))
    else execution.run()
  })
  return executed
}

/** A trace of the index. */
interface ComposedTrace {
  readonly trace: LocalTrace
  /** False if its input, output or code is missing, and empty in `trace`. */
  readonly isWhole: boolean
}

/** The traces of a transaction from the index. */
function composeTraces(
  { chain, traceIndex }: RpcContext,
  block: StoredBlock,
  { index, calls }: { index: number; calls: readonly CallTrace<number>[] },
): ComposedTrace[] {
  const { hash, input } = chain.transaction(block, index)!
  const composed = composeIndexedCalls(calls, { input, addressOf: (id) => traceIndex.addressOf(id) })
  const traces = placeTraces(composed.map(formatFlatCall), { block, index, hash })
  return traces.map((trace, i) => ({ trace, isWhole: composed[i].isWhole }))
}
