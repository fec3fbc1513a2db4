import {
  CALL,
  CALLCODE,
  DELEGATECALL,
  isCreation,
  parityTypeOf,
  SELFDESTRUCT,
  STATICCALL,
} from '../../chain/eth/callOpcodes.js'
import { rewardsOfBlock, type TracedReward } from '../../evm/tracing/blockRewards.js'
import { recordCalls } from '../../evm/tracing/callTree.js'
import type { Execution } from '../../evm/tracing/execution.js'
import { type FlatTraceCall, flattenCallTree, parityFlatOptions } from '../../evm/tracing/flatCalls.js'
import { composeIndexedCalls } from '../../evm/tracing/indexedCalls.js'
import { UNLIMITED } from '../../evm/tracing/unlimited.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { CALL_LIMITS } from '../callLimits.js'
import { type Cell, columns, nullable, type Row, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { type ExportSource, isSelected } from '../source.js'

const ACTION = [
  ...nullable('binary', 'action_from', 'action_to'),
  ...columns('string', 'action_value'),
  ...nullable('u32', 'action_gas'),
  ...nullable('binary', 'action_input'),
  ...nullable('string', 'action_call_type'),
  ...nullable('binary', 'action_init'),
  ...nullable('string', 'action_reward_type'),
  ...columns('string', 'action_type'),
]
const RESULT = [
  ...nullable('u32', 'result_gas_used'),
  ...nullable('binary', 'result_output', 'result_code', 'result_address'),
  ...columns('string', 'trace_address'),
  ...columns('u32', 'subtraces'),
]

export const traces: Dataset<StoredBlockLink> = {
  name: 'traces',
  fileName: 'traces',
  summary:
    'Calls, creations and SELFDESTRUCT of transactions, and rewards, as `trace_block` returns them, found by executing the blocks again; with the trace index, only transactions whose calls have inputs or outputs are executed. `trace_address` has indexes with `_` between them.',
  layer: LAYER_1,
  needsState: true,
  filtersAddresses: true,
  isByName: true,
  columns: [
    ...ACTION,
    ...RESULT,
    ...nullable('u32', 'transaction_index'),
    ...nullable('binary', 'transaction_hash'),
    ...columns('u32', 'block_number'),
    ...columns('binary', 'block_hash'),
    ...nullable('string', 'error'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 1,
  *rows(source, links) {
    for (const link of links) yield* traceRows(source, link)
  },
}

function* traceRows(source: ExportSource, { number, hash, timestamp, txCount }: StoredBlockLink): Generator<Row> {
  const { chain } = source
  const block = chain.blockByNumber(number)!
  const end = [chain.chainId(), toU32(timestamp)]
  if (txCount > 0) {
    const hashes = chain.transactionHashes(block)
    for (const [index, calls] of callsByTransaction(source, block)) {
      for (const each of calls) {
        if (!isSelected(source, each.call.from, each.call.to)) continue
        yield [...callCells(each), index, hashes[index], number, hash, each.error ?? null, ...end]
      }
    }
  }
  for (const cells of rewardCells(source, block)) yield [...cells, null, null, number, hash, null, ...end]
}

/** Yields transactions and their calls, each call before those below it. */
function* callsByTransaction(source: ExportSource, block: StoredBlock): Generator<[number, readonly FlatTraceCall[]]> {
  const { chain, traceIndex, addressOf, addresses } = source
  const ids = addresses && new Set(addresses.flatMap((address) => traceIndex.idOf(address) ?? []))
  const indexed = traceIndex.calls(block, ids)
  if (indexed === undefined) {
    yield* executeTransactions(source, block)
    return
  }
  const transactions = chain.transactions(block)
  const composed = new Map<number, readonly FlatTraceCall[]>()
  const missing = new Set<number>()
  for (const [index, calls] of indexed.entries()) {
    if (ids !== undefined && !calls.some(({ from, to }) => ids.has(from) || ids.has(to))) continue
    const flat = composeIndexedCalls(calls, { input: transactions[index].input, addressOf })
    composed.set(index, flat)
    if (!flat.every(({ isWhole }) => isWhole)) missing.add(index)
  }
  const executed = missing.size === 0 ? undefined : new Map(executeTransactions(source, block, missing))
  for (const [index, calls] of composed) yield [index, executed?.get(index) ?? calls]
}

/** Returns the calls of transactions by executing them again: of all, or of those with the indexes. */
function executeTransactions(
  { traces }: ExportSource,
  block: StoredBlock,
  wanted?: ReadonlySet<number>,
): [number, readonly FlatTraceCall[]][] {
  const found: [number, readonly FlatTraceCall[]][] = []
  const range = wanted && { first: Math.min(...wanted), last: Math.max(...wanted) }
  traces().replay(block, { ...UNLIMITED, ...range }, (execution) => {
    if (wanted?.has(execution.index) === false) execution.run()
    else found.push([execution.index, execute(execution)])
  })
  return found
}

function execute(execution: Execution): FlatTraceCall[] {
  const { hooks, root } = recordCalls(execution.journal.meter)
  execution.run(hooks)
  return flattenCallTree(root(), parityFlatOptions(execution))
}

const CALL_TYPES = new Map<number, string>([
  [CALL, 'call'],
  [CALLCODE, 'call_code'],
  [DELEGATECALL, 'delegate_call'],
  [STATICCALL, 'static_call'],
])

/** The cells of action and result. */
function callCells({ call, traceAddress, subtraces, hasResult }: FlatTraceCall): Cell[] {
  const { opcode, from, to, value = 0n, gas, input, gasUsed, output, failure } = call
  const isCreate = isCreation(call)
  const isDestruct = opcode === SELFDESTRUCT
  const callType = CALL_TYPES.get(opcode) ?? null
  return [
    from,
    isCreate ? null : to,
    value.toString(),
    isDestruct ? null : toU32(gas),
    callType === null ? null : input,
    callType,
    isCreate ? input : null,
    null,
    parityTypeOf(call),
    hasResult ? toU32(gasUsed) : null,
    hasResult && !isCreate ? output : null,
    hasResult && isCreate ? output : null,
    hasResult && isCreate && failure === undefined ? to : null,
    traceAddress.join('_'),
    subtraces,
  ]
}

const REWARD_TYPES: { readonly [K in TracedReward['kind']]: string } = {
  block: 'reward',
  uncle: 'uncle',
  external: 'external',
}

/** The cells of action and result of the rewards of a block. */
function rewardCells(source: ExportSource, block: StoredBlock): Cell[][] {
  const { chain, traces } = source
  return rewardsOfBlock(chain, block, () => traces().payments(block, UNLIMITED))
    .filter(({ author }) => isSelected(source, author))
    .map(({ kind, author, wei }) => {
      const action = [author, null, wei.toString(), null, null, null, null, REWARD_TYPES[kind]]
      return [...action, 'reward', null, null, null, null, '', 0]
    })
}

/** A row for each call that a call makes, on the state after each block. */
export const traceCallRows: Dataset<StoredBlockLink> = {
  name: 'trace-calls',
  fileName: 'trace_calls',
  summary:
    'Calls that a call of each `--contract` with each `--call-data` makes on the state after each block, as `trace_call` returns them. `transaction_index` numbers the rows of a call, as in cryo.',
  layer: LAYER_1,
  needsState: true,
  calls: 'data',
  isByName: true,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index'),
    ...ACTION,
    ...RESULT,
    ...nullable('string', 'error'),
    ...columns('binary', 'tx_to_address', 'tx_call_data'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 1,
  *rows({ chain, traces, contracts = [], callData = [] }, links) {
    for (const { number, timestamp } of links) {
      const block = chain.blockByNumber(number)!
      for (const to of contracts) {
        for (const data of callData) {
          let calls: readonly FlatTraceCall[] = []
          traces().calls(block, CALL_LIMITS, (executionOf) => {
            calls = execute(executionOf({ to, data }))
          })
          for (const [index, each] of calls.entries()) {
            const end = [each.error ?? null, to, data, chain.chainId(), toU32(timestamp)]
            yield [number, index, ...callCells(each), ...end]
          }
        }
      }
    }
  },
}
