import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, nullable, toU32, toU64, toU64OrNull } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { receiptsOf } from './transactions.js'

export const receipts: Dataset<StoredBlockLink> = {
  name: 'receipts',
  fileName: 'receipts',
  summary: 'Receipts without their logs. cryo has no such dataset.',
  layer: LAYER_1,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'block_hash'),
    ...columns('u32', 'transaction_index'),
    ...columns('binary', 'transaction_hash'),
    ...columns('u32', 'transaction_type'),
    ...columns('binary', 'from_address'),
    ...nullable('binary', 'to_address', 'contract_address'),
    ...nullable('bool', 'success'),
    ...nullable('binary', 'root'),
    ...columns('u64', 'gas_used', 'cumulative_gas_used', 'effective_gas_price'),
    ...nullable('u64', 'blob_gas_used', 'blob_gas_price'),
    ...columns('u32', 'n_logs'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 16,
  *rows(source, links) {
    const { chain } = source
    const chainId = chain.chainId()
    for (const link of links) {
      if (link.txCount === 0) continue
      const all = receiptsOf(source, link)
      for (const [index, transaction] of chain.transactions(chain.blockByNumber(link.number)!).entries()) {
        const receipt = all[index]
        yield [
          link.number,
          link.hash,
          index,
          transaction.hash,
          transaction.type,
          transaction.from,
          transaction.to ?? null,
          receipt.contractAddress ?? null,
          receipt.status === undefined ? null : receipt.status === 1,
          receipt.root ?? null,
          toU64(receipt.gasUsed),
          toU64(receipt.cumulativeGasUsed),
          toU64(receipt.effectiveGasPrice),
          toU64OrNull(receipt.blobGasUsed),
          toU64OrNull(receipt.blobGasPrice),
          receipt.logCount,
          chainId,
          toU32(link.timestamp),
        ]
      }
    }
  },
}
