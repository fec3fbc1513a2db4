import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { columns, nullable, type Row, toU32, toU64, toU64OrNull, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

export const blocks: Dataset<StoredBlockLink> = {
  name: 'blocks',
  fileName: 'blocks',
  summary: 'Headers, one row a block.',
  layer: LAYER_1,
  columns: [
    ...columns('binary', 'block_hash', 'parent_hash', 'uncles_hash', 'author', 'state_root', 'transactions_root'),
    ...columns('binary', 'receipts_root'),
    ...columns('u32', 'block_number'),
    ...columns('u64', 'gas_used', 'gas_limit'),
    ...columns('binary', 'extra_data', 'logs_bloom'),
    ...columns('u32', 'timestamp'),
    ...columns('u64', 'difficulty'),
    ...uint256('total_difficulty'),
    ...columns('u64', 'size'),
    ...columns('binary', 'mix_hash', 'nonce'),
    ...nullable('u64', 'base_fee_per_gas'),
    ...nullable('binary', 'withdrawals_root'),
    ...columns('u64', 'chain_id'),
    ...nullable('u64', 'blob_gas_used', 'excess_blob_gas'),
    ...nullable('binary', 'parent_beacon_block_root', 'requests_hash'),
    ...columns('u32', 'n_transactions', 'n_logs'),
  ],
  batchBlocks: () => 1_000,
  rows: blockRows,
}

/** Yields the rows of the blocks. Call it in a snapshot. */
export function* blockRows({ chain }: Pick<ExportSource, 'chain'>, links: readonly StoredBlockLink[]): Generator<Row> {
  const chainId = chain.chainId()
  for (const { number } of links) yield rowOf(chain.blockByNumber(number)!, chainId)
}

function rowOf({ hash, header, totalDifficulty, sizeBytes, txCount, logCount }: StoredBlock, chainId: bigint): Row {
  return [
    hash,
    header.parentHash,
    header.unclesHash,
    header.miner,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.number,
    toU64(header.gasUsed),
    toU64(header.gasLimit),
    header.extraData,
    header.logsBloom,
    toU32(header.timestamp),
    toU64(header.difficulty),
    ...uint256Cells(totalDifficulty),
    sizeBytes,
    header.mixHash,
    header.nonce,
    toU64OrNull(header.baseFeePerGas),
    header.withdrawalsRoot ?? null,
    chainId,
    toU64OrNull(header.blobGasUsed),
    toU64OrNull(header.excessBlobGas),
    header.parentBeaconBlockRoot ?? null,
    header.requestsHash ?? null,
    txCount,
    logCount,
  ]
}
