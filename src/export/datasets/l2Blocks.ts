import { encodeFelt, type Felt } from '../../chain/starknet/felt.js'
import type { StoredL2Block } from '../../store/l2/l2Reader.js'
import { columns, nullable } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { type L2Link, LAYER_2 } from '../layers.js'

const PRICES = ['l1Wei', 'l1Fri', 'l1DataWei', 'l1DataFri', 'l2Wei', 'l2Fri'] as const
const COMMITMENTS = ['transactionCommitment', 'eventCommitment', 'receiptCommitment', 'stateDiffCommitment'] as const

/** Omits the status, which changes while the block does not. */
export const l2Blocks: Dataset<L2Link> = {
  name: 'l2-blocks',
  fileName: 'l2_blocks',
  summary: 'Canonical layer-2 blocks. Felts are 32 bytes, prices decimal text.',
  layer: LAYER_2,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'block_hash', 'parent_hash', 'new_root'),
    ...columns('u64', 'timestamp'),
    ...nullable('binary', 'sequencer_address'),
    ...nullable('string', 'version', 'l1_gas_price_wei', 'l1_gas_price_fri', 'l1_data_gas_price_wei'),
    ...nullable('string', 'l1_data_gas_price_fri', 'l2_gas_price_wei', 'l2_gas_price_fri', 'l1_da_mode'),
    ...nullable('binary', 'transaction_commitment', 'event_commitment', 'receipt_commitment', 'state_diff_commitment'),
    ...columns('u32', 'n_transactions'),
    ...nullable('u32', 'n_events', 'state_diff_length'),
    ...nullable('string', 'chain_id'),
  ],
  batchBlocks: () => 1_000,
  *rows(source, links) {
    const chainId = LAYER_2.chainId(source) ?? null
    for (const { block } of links) yield [...cellsOf(block), chainId]
  },
}

function cellsOf(block: StoredL2Block) {
  return [
    block.number,
    encodeFelt(block.hash),
    encodeFelt(block.parentHash),
    encodeFelt(block.newRoot),
    block.timestamp,
    feltOrNull(block.sequencer),
    block.version ?? null,
    ...PRICES.map((name) => block.prices[name]?.toString() ?? null),
    block.daMode ?? null,
    ...COMMITMENTS.map((name) => feltOrNull(block[name])),
    block.transactionCount,
    block.eventCount ?? null,
    block.stateDiffLength ?? null,
  ]
}

function feltOrNull(value: Felt | undefined): Uint8Array | null {
  return value === undefined ? null : encodeFelt(value)
}
