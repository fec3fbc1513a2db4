import { opcodeName } from '../../evm/interpreter/opcodes/instructions.js'
import { UNLIMITED } from '../../evm/tracing/unlimited.js'
import { type CodeTrace, recordCode, type StepEffect } from '../../evm/tracing/vmTrace.js'
import { bigIntToFixedBytes, concatBytes } from '../../lib/bytes.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Cell, columns, nullable, type Row, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

export const vmTraces: Dataset<StoredBlockLink> = {
  name: 'vm-traces',
  fileName: 'vm_traces',
  summary:
    'Instructions of transactions in the order in which they began, as `vmTrace` of `trace_replayBlockTransactions` has them, found by executing the blocks again. `used` is the gas left after an instruction and its call, `push` the words that it left on the stack, `mem_off` and `mem_data` the memory that it wrote.',
  layer: LAYER_1,
  needsState: true,
  isByName: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'transaction_hash'),
    ...columns('u32', 'transaction_index'),
    ...columns('u64', 'pc', 'cost'),
    ...nullable('u64', 'used'),
    ...nullable('binary', 'push'),
    ...nullable('u32', 'mem_off'),
    ...nullable('binary', 'mem_data', 'storage_key', 'storage_val'),
    ...columns('string', 'op'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 1,
  *rows(source, links) {
    for (const link of links) yield* rowsOf(source, link)
  },
}

function* rowsOf({ chain, traces }: ExportSource, { number, timestamp, txCount }: StoredBlockLink): Generator<Row> {
  if (txCount === 0) return
  const recorded: { index: number; hash: Uint8Array; trace: CodeTrace }[] = []
  traces().replay(chain.blockByNumber(number)!, UNLIMITED, (execution) => {
    const { hooks, root } = recordCode(execution.journal.meter)
    execution.run(hooks)
    const { index, transaction } = execution
    const trace = root()
    if (trace !== undefined) recorded.push({ index, hash: transaction.hash, trace })
  })
  const end = [chain.chainId(), toU32(timestamp)]
  for (const { index, hash, trace } of recorded) {
    for (const cells of stepCells(trace)) yield [number, hash, index, ...cells, ...end]
  }
}

function* stepCells({ steps }: CodeTrace): Generator<Cell[]> {
  for (const { pc, opcode, cost, effect, sub } of steps) {
    yield [pc, cost, ...effectCells(effect), opcodeName(opcode)]
    if (sub !== undefined) yield* stepCells(sub)
  }
}

function effectCells(effect: StepEffect | undefined): Cell[] {
  if (effect === undefined) return [null, null, null, null, null, null]
  const { gasLeft, pushed, memory, stored } = effect
  return [
    gasLeft,
    concatBytes(...pushed.map((word) => bigIntToFixedBytes(word, 32))),
    memory === undefined ? null : toU32(BigInt(memory.offset)),
    memory?.bytes ?? null,
    stored === undefined ? null : bigIntToFixedBytes(stored.slot, 32),
    stored === undefined ? null : bigIntToFixedBytes(stored.value, 32),
  ]
}
