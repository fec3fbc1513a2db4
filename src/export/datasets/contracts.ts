import { keccak256 } from '../../chain/crypto.js'
import { isCreation } from '../../chain/eth/callOpcodes.js'
import { recordCalls, type TracedCall } from '../../evm/tracing/callTree.js'
import { UNLIMITED } from '../../evm/tracing/unlimited.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { effectiveTraces } from '../../store/rows/placeCalls.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { columns, type Row, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

export const contracts: Dataset<StoredBlockLink> = {
  name: 'contracts',
  fileName: 'contracts',
  summary:
    'Contracts that transactions created, found by executing the blocks again; with the trace index, only those that create some.',
  layer: LAYER_1,
  needsState: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'block_hash'),
    ...columns('u32', 'create_index'),
    ...columns('binary', 'transaction_hash', 'contract_address', 'deployer', 'factory', 'init_code', 'code'),
    ...columns('binary', 'init_code_hash'),
    ...columns('u32', 'n_init_code_bytes', 'n_code_bytes'),
    ...columns('binary', 'code_hash'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 1,
  *rows(source, links) {
    for (const link of links) yield* rowsOf(source, link)
  },
}

function rowsOf(source: ExportSource, { number, hash, timestamp, txCount }: StoredBlockLink): Row[] {
  const { chain, traces } = source
  if (txCount === 0) return []
  const block = chain.blockByNumber(number)!
  const creating = creatingTransactions(source, block)
  if (creating !== undefined && creating.length === 0) return []
  const rows: Row[] = []
  const chainId = chain.chainId()
  traces().replay(block, { ...UNLIMITED, first: creating?.[0], last: creating?.at(-1) }, (execution) => {
    const { hooks, root } = recordCalls(execution.journal.meter)
    execution.run(hooks)
    for (const { to, from, input, output } of listCreated(root())) {
      rows.push([
        number,
        hash,
        rows.length,
        execution.transaction.hash,
        to,
        execution.transaction.from,
        from,
        input,
        output,
        keccak256(input),
        input.length,
        output.length,
        keccak256(output),
        chainId,
        toU32(timestamp),
      ])
    }
  })
  return rows
}

/** Indexes of the transactions that created a contract; undefined where the trace index does not have the block. */
function creatingTransactions({ traceIndex }: ExportSource, block: StoredBlock): number[] | undefined {
  return traceIndex
    .calls(block)
    ?.flatMap((calls, index) => (Array.from(effectiveTraces(calls)).some(isCreation) ? [index] : []))
}

/** Returns the creations that succeeded and were not reverted by a caller, in the order in which they began. */
function listCreated(call: TracedCall): TracedCall[] {
  if (call.failure !== undefined) return []
  const own = isCreation(call) ? [call] : []
  return [...own, ...call.calls.flatMap(listCreated)]
}
