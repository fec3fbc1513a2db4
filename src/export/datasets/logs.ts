import type { LogIdFilter } from '../../index/logs/logIds.js'
import type { ExportedLog, LogShape, StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Cell, columns, nullable, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

export const logs: Dataset<StoredBlockLink> = {
  name: 'logs',
  fileName: 'logs',
  summary: 'Logs as they are.',
  layer: LAYER_1,
  filtersAddresses: true,
  columns: [
    ...columns('u32', 'block_number', 'transaction_index', 'log_index'),
    ...columns('binary', 'transaction_hash', 'address'),
    ...nullable('binary', 'topic0', 'topic1', 'topic2', 'topic3'),
    ...columns('binary', 'data'),
    ...columns('u32', 'n_data_bytes'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: logBatchBlocks,
  *rows(source, links) {
    const chainId = source.chain.chainId()
    for (const placed of readLogs(source, links)) {
      const { log, block } = placed
      yield [...placeCells(placed), ...log.topics, log.data, log.data.length, chainId, toU32(block.timestamp)]
    }
  },
}

/** A log in its block. */
interface PlacedLog {
  readonly log: ExportedLog
  readonly block: StoredBlockLink
  readonly logIndex: number
  readonly transactionHash: Uint8Array
}

/** Returns the cells of block number, transaction index, log index, transaction hash and address. */
export function placeCells({ log, block, logIndex, transactionHash }: PlacedLog): Cell[] {
  return [block.number, log.transactionIndex, logIndex, transactionHash, log.address]
}

/** Returns the number of blocks in one snapshot: more if the index finds the few wanted logs. */
export function logBatchBlocks({ addresses }: ExportSource): number {
  return addresses === undefined ? 16 : 256
}

/** Selects logs: by shape, reading all rows; by first topics and addresses, with the log search index. */
interface WantedLogs {
  readonly shape?: LogShape
  /** Default: those of the source. */
  readonly addresses?: readonly Uint8Array[]
  readonly topics0?: readonly Uint8Array[]
}

/** Yields the logs of the blocks from the wanted addresses, ascending. */
export function* readLogs(
  source: ExportSource,
  links: readonly StoredBlockLink[],
  { shape, topics0, addresses = source.addresses }: WantedLogs = {},
): Generator<PlacedLog> {
  const [first, last] = [links[0], links[links.length - 1]]
  const { rows, logIds } = source
  const range = { from: first.firstLog, to: last.firstLog + last.logCount }
  const filter: LogIdFilter = { addresses, topics0: topics0 ?? (addresses && shape && [shape.topic0]) }
  const isIndexed = filter.addresses !== undefined || filter.topics0 !== undefined
  const found = isIndexed ? rows.logsByIds(logIds.find(filter, range)) : rows.logs(range, shape)
  let at = 0
  for (const block of links) {
    const end = block.firstLog + block.logCount
    let hashes: Uint8Array[] | undefined
    for (; at < found.length && found[at].id < end; at++) {
      const log = found[at]
      hashes ??= rows.transactionHashes({ from: block.firstTx, to: block.firstTx + block.txCount })
      if (shape !== undefined && isIndexed && countTopics(log) !== shape.topicCount) continue
      yield { log, block, logIndex: log.id - block.firstLog, transactionHash: hashes[log.transactionIndex] }
    }
  }
}

function countTopics({ topics }: ExportedLog): number {
  return topics.filter((topic) => topic !== null).length
}
