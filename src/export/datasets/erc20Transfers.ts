import { keccak256 } from '../../chain/crypto.js'
import { bytesToBigInt } from '../../lib/bytes.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, toU32, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { logBatchBlocks, readLogs } from './logs.js'

const TRANSFER = keccak256(new TextEncoder().encode('Transfer(address,address,uint256)'))

/** Selects logs as cryo does: three topics and one word of data, which excludes ERC-721 transfers. */
export const erc20Transfers: Dataset<StoredBlockLink> = {
  name: 'erc20-transfers',
  fileName: 'erc20_transfers',
  summary: 'Logs of `Transfer(address,address,uint256)` with two indexed addresses and one word of data.',
  layer: LAYER_1,
  filtersAddresses: true,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index', 'log_index'),
    ...columns('binary', 'transaction_hash', 'erc20', 'from_address', 'to_address'),
    ...uint256('value'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: logBatchBlocks,
  *rows(source, links) {
    const chainId = source.chain.chainId()
    const shape = { topic0: TRANSFER, topicCount: 3 }
    for (const { log, block, logIndex, transactionHash } of readLogs(source, links, { shape })) {
      if (log.data.length !== 32) continue
      const [, from, to] = log.topics
      yield [
        block.number,
        log.transactionIndex,
        logIndex,
        transactionHash,
        log.address,
        from!.subarray(12),
        to!.subarray(12),
        ...uint256Cells(bytesToBigInt(log.data)),
        chainId,
        toU32(block.timestamp),
      ]
    }
  },
}
