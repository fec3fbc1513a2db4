import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from './database.js'
import type { ChainReader } from './rows/types.js'

/** How the database grows with the chain, and when its disk is full. */
export interface GrowthForecast {
  /** Number of newest blocks that the forecast is based on. */
  readonly blocks: number
  readonly bytesPerBlock: number
  readonly blocksPerDay: number
  readonly bytesPerDay: number
  /** Free bytes on the disk of the database for this user, including the free pages of the database. */
  readonly freeBytes: number
  /** Null when the newest block is older than a day: the chain is not followed, or is far behind. */
  readonly daysLeft: number | null
}

/** Blocks to look back: three hours of mainnet. */
const BLOCKS = 1000

/* Relative sizes in bytes of a block, of a transaction with its receipt, index entries and state changes, and of a log
 * with its index entries (docs/sizing.md). The sizes themselves come from the database. */
const BLOCK_BYTES = 600
const TRANSACTION_BYTES = 600
const LOG_BYTES = 100

const DAY_SECONDS = 86_400

interface Edge {
  readonly number: number
  /** Number up to and including the block. */
  readonly transactions: number
  readonly logs: number
}

/** Creates a forecast over an open database, which takes microseconds: the share of the newest blocks in all blocks,
 *  transactions and logs is their share of its bytes. Undefined with fewer than two blocks. Layer-2 blocks are not
 *  forecast. */
export function createGrowthForecast(
  db: Database,
  chain: ChainReader,
  nowMs: () => number = Date.now,
): () => GrowthForecast | undefined {
  const select = db.prepare<[number], Edge>(
    'SELECT number, first_tx + n_tx AS transactions, first_log + n_logs AS logs FROM blocks WHERE number = ?',
  )
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number
  const weigh = (from: Edge, to: Edge) =>
    (to.number - from.number) * BLOCK_BYTES +
    (to.transactions - from.transactions) * TRANSACTION_BYTES +
    (to.logs - from.logs) * LOG_BYTES
  return () => {
    const { first, head } = chain.coverage() ?? { first: 0, head: 0 }
    if (head <= first) return undefined
    const [start, before, newest] = [first, Math.max(first, head - BLOCKS), head].map((number) => select.get(number)!)
    const [fromTime, toTime] = [before, newest].map(({ number }) => {
      return Number(chain.blockByNumber(number)!.header.timestamp)
    })
    const [pageBytes, freePages] = [pragma('page_size'), pragma('freelist_count')]
    const used = (pragma('page_count') - freePages) * pageBytes
    const blocks = head - before.number
    const bytesPerBlock = (used * weigh(before, newest)) / weigh(start, newest) / blocks
    const blocksPerDay = (blocks * DAY_SECONDS) / Math.max(1, toTime - fromTime)
    const bytesPerDay = bytesPerBlock * blocksPerDay
    const { bavail, bsize } = statfsSync(dirname(db.name))
    const freeBytes = bavail * bsize + freePages * pageBytes
    const isFollowed = nowMs() / 1000 - toTime < DAY_SECONDS
    return {
      blocks,
      bytesPerBlock: Math.round(bytesPerBlock),
      blocksPerDay: Math.round(blocksPerDay),
      bytesPerDay: Math.round(bytesPerDay),
      freeBytes,
      daysLeft: isFollowed ? Math.round((freeBytes / bytesPerDay) * 10) / 10 : null,
    }
  }
}
