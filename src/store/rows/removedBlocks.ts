import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import {
  asBytes,
  asFixed,
  asList,
  asSafeInteger,
  asUint,
  decodeRlp,
  encodeRlp,
  type RlpInput,
} from '../../chain/eth/rlp.js'
import type { Database } from '../database.js'
import { createStoredLogs } from './log.js'
import type { StoredLog } from './types.js'

/** Removed blocks that are kept for servers that have not seen their removal yet. With 250 logs a block has
 *  about 20 KB. */
export const KEPT_BLOCKS = 4_096

// 158 KB of 250 logs become 17 KB in 0.14 ms; raw deflate of level 1 takes 0.8 ms for as much.
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } }

/** A block that was removed; hashes have 32 bytes. */
export interface RemovedBlock {
  /** Ascends in the order of removal. */
  readonly id: number
  readonly number: number
  readonly hash: Uint8Array
  readonly parentHash: Uint8Array
}

/** Keeps the blocks above `number`, the highest first, with their logs, and drops the oldest kept ones. Call it in the
 *  transaction that removes the blocks, before their removal. */
export function keepRemovedBlocks(db: Database, number: number): void {
  const blocks = db.prepare<
    [number],
    { number: number; hash: Uint8Array; parent_hash: Uint8Array; first_log: number; n_logs: number }
  >('SELECT number, hash, parent_hash, first_log, n_logs FROM blocks WHERE number > ? ORDER BY number DESC')
  const insert = db.prepare('INSERT INTO removed_blocks (number, hash, parent_hash, logs) VALUES (?, ?, ?, ?)')
  const readLogs = createStoredLogs(db)
  for (const block of blocks.all(number)) {
    const logs = readLogs(Array.from({ length: block.n_logs }, (_, i) => block.first_log + i))
    insert.run(block.number, block.hash, block.parent_hash, brotliCompressSync(encodeLogs(logs), FAST))
  }
  db.prepare('DELETE FROM removed_blocks WHERE id <= (SELECT max(id) FROM removed_blocks) - ?').run(KEPT_BLOCKS)
}

/** Reads of removed blocks through statements prepared once for the connection. */
export interface RemovedBlocks {
  /** Id of the newest one; 0 without any. */
  lastId(): number
  /** Blocks with higher ids, in order. */
  after(id: number): RemovedBlock[]
  /** The logs of a removed block, in order; undefined when it is no longer kept. */
  logs(block: RemovedBlock): StoredLog[] | undefined
  /** As `logs`, by number and hash alone. */
  logsOfBlock(block: Pick<RemovedBlock, 'number' | 'hash'>): StoredLog[] | undefined
}

/** Creates a reader over an open database. */
export function createRemovedBlocks(db: Database): RemovedBlocks {
  const selectLast = db.prepare<[], number>('SELECT ifnull(max(id), 0) FROM removed_blocks').pluck()
  const selectAfter = db.prepare<[number], RemovedBlock>(
    'SELECT id, number, hash, parent_hash AS parentHash FROM removed_blocks WHERE id > ? ORDER BY id',
  )
  const selectLogs = db.prepare<[number], Uint8Array>('SELECT logs FROM removed_blocks WHERE id = ?').pluck()
  const selectLogsOfBlock = db
    .prepare<[number, Uint8Array], Uint8Array>(
      'SELECT logs FROM removed_blocks WHERE number = ? AND hash = ? ORDER BY id DESC LIMIT 1',
    )
    .pluck()
  const unpack = (logs: Uint8Array | undefined, block: Pick<RemovedBlock, 'number' | 'hash'>) =>
    logs && decodeLogs(brotliDecompressSync(logs), block)
  return {
    lastId: () => selectLast.get()!,
    after: (id) => selectAfter.all(id),
    logs: (block) => unpack(selectLogs.get(block.id), block),
    logsOfBlock: (block) => unpack(selectLogsOfBlock.get(block.number, block.hash), block),
  }
}

/** RLP of a list with an item for each log: its block's timestamp, the index and hash of its transaction, its address,
 *  topics and data. */
function encodeLogs(logs: readonly StoredLog[]): Uint8Array {
  return encodeRlp(
    logs.map(({ log: { address, topics, data }, position }): RlpInput => {
      const { blockTimestamp, transactionIndex, transactionHash } = position
      return [blockTimestamp, transactionIndex, transactionHash, address, topics, data]
    }),
  )
}

/** @throws DecodeError */
function decodeLogs(bytes: Uint8Array, { number, hash }: Pick<RemovedBlock, 'number' | 'hash'>): StoredLog[] {
  return asList(decodeRlp(bytes, 'logs'), 'logs').map((item, logIndex) => {
    const path = `logs[${logIndex}]`
    const [timestamp, transactionIndex, transactionHash, address, topics, data] = asList(item, path, 6, 6)
    return {
      log: {
        address: asFixed(address, 20, `${path}.address`),
        topics: asList(topics, `${path}.topics`, 0, 4).map((topic, i) => asFixed(topic, 32, `${path}.topics[${i}]`)),
        data: asBytes(data, `${path}.data`),
      },
      position: {
        blockNumber: number,
        blockHash: hash,
        blockTimestamp: asUint(timestamp, 8, `${path}.blockTimestamp`),
        transactionHash: asFixed(transactionHash, 32, `${path}.transactionHash`),
        transactionIndex: asSafeInteger(transactionIndex, `${path}.transactionIndex`),
        logIndex,
      },
    }
  })
}
