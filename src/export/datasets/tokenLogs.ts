import { TRANSFER_TOPIC } from '../../chain/eth/transferTopics.js'
import { hashSignature } from '../../decoding/abiItems.js'
import { bytesToBigInt } from '../../lib/bytes.js'
import type { ExportedLog, StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, toU32, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { logBatchBlocks, placeCells, readLogs } from './logs.js'

const APPROVAL = hashSignature('Approval(address,address,uint256)')

/** Which logs of an event a dataset has, and the integer of each. */
interface TokenEvent {
  readonly name: string
  readonly summary: string
  readonly topic0: Uint8Array // 32
  readonly topicCount: 3 | 4
  readonly dataLength: number
  /** The column of the integer. */
  readonly integer: string
  integerOf(log: ExportedLog): Uint8Array
}

/** Selects logs as cryo does: three topics and one word of data, which excludes ERC-721 transfers. */
export const erc20Transfers = tokenDataset({
  name: 'erc20-transfers',
  summary: 'Logs of `Transfer(address,address,uint256)` with two indexed addresses and one word of data.',
  topic0: TRANSFER_TOPIC,
  topicCount: 3,
  dataLength: 32,
  integer: 'value',
  integerOf: ({ data }) => data,
})

/** Approvals, with the owner as `from_address` and the spender as `to_address`. */
export const erc20Approvals = tokenDataset({
  name: 'erc20-approvals',
  summary:
    'Logs of `Approval(address,address,uint256)` with two indexed addresses and one word of data. `from_address` is the owner, `to_address` the spender.',
  topic0: APPROVAL,
  topicCount: 3,
  dataLength: 32,
  integer: 'value',
  integerOf: ({ data }) => data,
})

/** Transfers of ERC-721. The contract's column is `erc20`, as in cryo. */
export const erc721Transfers = tokenDataset({
  name: 'erc721-transfers',
  summary:
    'Logs of `Transfer(address,address,uint256)` with three indexed arguments and no data. `erc20` is the contract, as cryo names it.',
  topic0: TRANSFER_TOPIC,
  topicCount: 4,
  dataLength: 0,
  integer: 'token_id',
  integerOf: ({ topics }) => topics[3]!,
})

function tokenDataset(event: TokenEvent): Dataset<StoredBlockLink> {
  const { name, summary, topic0, topicCount, dataLength, integer, integerOf } = event
  return {
    name,
    fileName: name.replaceAll('-', '_'),
    summary,
    layer: LAYER_1,
    filtersAddresses: true,
    columns: [
      ...columns('u32', 'block_number', 'transaction_index', 'log_index'),
      ...columns('binary', 'transaction_hash', 'erc20', 'from_address', 'to_address'),
      ...uint256(integer),
      ...columns('u64', 'chain_id'),
      ...columns('u32', 'block_timestamp'),
    ],
    batchBlocks: logBatchBlocks,
    *rows(source, links) {
      const chainId = source.chain.chainId()
      const shape = { topic0, topicCount }
      for (const placed of readLogs(source, links, { shape })) {
        const { log, block } = placed
        if (log.data.length !== dataLength) continue
        const [, from, to] = log.topics
        yield [
          ...placeCells(placed),
          from!.subarray(12),
          to!.subarray(12),
          ...uint256Cells(bytesToBigInt(integerOf(log))),
          chainId,
          toU32(block.timestamp),
        ]
      }
    },
  }
}
