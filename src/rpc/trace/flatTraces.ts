import type { Payment } from '../../chain/eth/families/family.js'
import type { MemoryMeter } from '../../evm/interpreter/memoryMeter.js'
import { hasExternalRewards, rewardsOfBlock, type TracedReward } from '../../evm/tracing/blockRewards.js'
import { recordCalls } from '../../evm/tracing/callTree.js'
import { parityFlatOptions } from '../../evm/tracing/flatCalls.js'
import type { BlockExecution, TraceService } from '../../evm/tracing/traceService.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { requireTracedTransaction } from '../debug/traceErrors.js'
import { type FlatCall, flattenCalls } from '../debug/tracers/flatCalls.js'

/** A trace in its block. */
export interface LocalTrace {
  readonly json: object
  readonly traceAddress: readonly number[]
  /** Addresses in lower-case hex; undefined if absent. */
  readonly from?: string
  readonly to?: string
}

/** Passes the traces of all transactions of a block to `visit`, in order, then those of its rewards.
 *  @throws DeadlineExceeded, CallMemoryExceeded */
export function visitTraces(
  context: RpcContext,
  { traces, block }: { traces: TraceService; block: StoredBlock },
  visit: (trace: LocalTrace) => void,
): void {
  const { chain, deadline, limits } = context
  const isEnded = block.header.number > 0 && hasExternalRewards(chain.spec())
  let payments: readonly Payment[] = []
  if (block.txCount > 0 || isEnded) {
    const range = { deadline, memoryBytes: limits.callMemoryBytes, isEnded }
    payments = traces.replay(block, range, (execution) => {
      for (const each of traceTransaction(execution)) visit(each)
    })
  }
  const rewards = rewardsOfBlock(chain, block, () => payments)
  for (const each of placeRewards(block, rewards)) visit(each)
}

/** Runs a transaction and returns its traces. @throws DeadlineExceeded, CallMemoryExceeded */
export function traceTransaction(execution: BlockExecution): LocalTrace[] {
  const meter: MemoryMeter = execution.journal.meter
  const { hooks, root } = recordCalls(meter)
  execution.run(hooks)
  const { block, index, transaction } = execution
  return placeTraces(flattenCalls(root(), parityFlatOptions(execution)), { block, index, hash: transaction.hash })
}

/** Locates the traces of a transaction in its block. `hash` has 32 bytes. */
export function placeTraces(
  traces: readonly FlatCall[],
  { block, index, hash }: { block: StoredBlock; index: number; hash: Uint8Array },
): LocalTrace[] {
  const place = {
    blockHash: formatData(block.hash),
    blockNumber: block.header.number,
    transactionHash: formatData(hash),
    transactionPosition: index,
  }
  return traces.map((each) => ({
    json: { ...unplaced(each), ...place },
    traceAddress: each.traceAddress,
    ...endsOf(each),
  }))
}

/** The traces of a stored transaction. @throws RpcError if no stored transaction has that hash; DeadlineExceeded,
 *  CallMemoryExceeded */
export async function tracesOfTransaction(context: RpcContext, hash: Uint8Array): Promise<LocalTrace[]> {
  const traces = await context.loadTraces()
  const { block, index: at } = requireTracedTransaction(context, hash)
  const { deadline, limits } = context
  const out: LocalTrace[] = []
  const range = { first: at, last: at, deadline, memoryBytes: limits.callMemoryBytes }
  traces.replay(block, range, (execution) => out.push(...traceTransaction(execution)))
  return out
}

/** A trace without its location, with OpenEthereum's null for no result. */
export function unplaced({ action, error, result, subtraces, traceAddress, type }: FlatCall): object {
  return { action, error, result: result ?? null, subtraces, traceAddress, type }
}

function endsOf({ action, result }: FlatCall): Pick<LocalTrace, 'from' | 'to'> {
  const { from, to, address, refundAddress } = action as Record<string, string | undefined>
  const created = (result as { address?: string } | null | undefined)?.address
  return { from: from ?? address, to: to ?? refundAddress ?? created }
}

/** The traces of the rewards of a block, which is executed again where system calls pay them. @throws StateUnavailable,
 *  DeadlineExceeded, CallMemoryExceeded */
export function traceRewards(
  { chain, deadline, limits }: RpcContext,
  { traces, block }: { traces: TraceService; block: StoredBlock },
): LocalTrace[] {
  const range = { deadline, memoryBytes: limits.callMemoryBytes }
  const rewards = rewardsOfBlock(chain, block, () => traces.payments(block, range))
  return placeRewards(block, rewards)
}

function placeRewards({ header, hash }: StoredBlock, rewards: readonly TracedReward[]): LocalTrace[] {
  return rewards.map(({ kind, author, wei }) => ({
    json: {
      action: { author: formatData(author), rewardType: kind, value: formatQuantity(wei) },
      result: null,
      subtraces: 0,
      traceAddress: [],
      type: 'reward',
      blockHash: formatData(hash),
      blockNumber: header.number,
      transactionHash: null,
      transactionPosition: null,
    },
    traceAddress: [],
    to: formatData(author),
  }))
}
