import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Database } from '../database.js'
import { createBlockLogs } from './blockLogs.js'

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
  const logsOf = createBlockLogs(db)
  for (const block of blocks.all(number)) {
    const logs = logsOf({ firstLog: block.first_log, logCount: block.n_logs })
    insert.run(block.number, block.hash, block.parent_hash, brotliCompressSync(logs, FAST))
  }
  db.prepare('DELETE FROM removed_blocks WHERE id <= (SELECT max(id) FROM removed_blocks) - ?').run(KEPT_BLOCKS)
}

/** Reads of removed blocks through statements prepared once for the connection. */
export interface RemovedBlocks {
  /** Id of the newest one; 0 without any. */
  lastId(): number
  /** Blocks with higher ids, in order. */
  after(id: number): RemovedBlock[]
  /** The logs of a removed block before its removal, as JSON, joined by commas; undefined when it is no longer kept. */
  logs(id: number): Buffer | undefined
  /** As `logs`, for the block with that number and hash. */
  logsOfBlock(number: number, hash: Uint8Array): Buffer | undefined
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
  const unpack = (logs: Uint8Array | undefined) => logs && brotliDecompressSync(logs)
  return {
    lastId: () => selectLast.get()!,
    after: (id) => selectAfter.all(id),
    logs: (id) => unpack(selectLogs.get(id)),
    logsOfBlock: (number, hash) => unpack(selectLogsOfBlock.get(number, hash)),
  }
}
