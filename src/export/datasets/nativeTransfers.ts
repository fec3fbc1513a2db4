import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { effectiveTraces, movesEther } from '../../store/rows/placeCalls.js'
import { callsOf } from '../calls.js'
import { columns, type Row, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

export const nativeTransfers: Dataset<StoredBlockLink> = {
  name: 'native-transfers',
  fileName: 'native_transfers',
  summary:
    'Movements of ether by transactions, calls, creations and SELFDESTRUCT that took effect, without those of 0 wei; from the trace index, or by executing the blocks again.',
  layer: LAYER_1,
  needsState: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'block_hash'),
    ...columns('u32', 'transaction_index', 'transfer_index'),
    ...columns('binary', 'transaction_hash', 'from_address', 'to_address'),
    ...uint256('value'),
    ...columns('u64', 'chain_id'),
  ],
  batchBlocks: () => 1,
  *rows(source, links) {
    for (const link of links) yield* rowsOf(source, link)
  },
}

function* rowsOf(source: ExportSource, { number, hash, txCount }: StoredBlockLink): Generator<Row> {
  if (txCount === 0) return
  const { chain } = source
  const block = chain.blockByNumber(number)!
  const hashes = chain.transactionHashes(block)
  let transferIndex = 0
  for (const [index, calls] of callsOf(source, block).entries()) {
    for (const call of effectiveTraces(calls)) {
      if (!movesEther(call)) continue
      const { from, to, value = 0n } = call
      const place = [number, hash, index, transferIndex++, hashes[index]]
      yield [...place, from, to, ...uint256Cells(value), chain.chainId()]
    }
  }
}
