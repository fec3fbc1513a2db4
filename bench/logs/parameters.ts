import { trimLeft } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import type { Database } from '../../src/store/database.js'
import { type LogChain, topicOf } from '../../test/support/chains/logChain.js'

/** What must be known of the stored chain to make the shapes. */
export interface ShapeParameters {
  /** The last block. */
  head: number
  /** The first holder with at most 9,500 logs by topic 1, which are scattered over the chain. */
  scatteredRank: number
  /** A contract and a range in which it has exactly 10,000 logs; on a chain too short for that, all it has. */
  exact: { address: string; fromBlock: number; toBlock: number }
}

/** How many logs of a contract a block has. */
export interface BlockCount {
  block: number
  count: number
}

const MAX_LOGS = 10_000
const SCATTERED_LOGS = 9_500
const RANKS = 5_000
// The contracts of the first ranks have 10,000 logs several times over in this number of blocks.
const EXACT_BLOCKS = 10_000

/** The parameters of the chain in one of our databases, counted in its rows: not one query goes through the index. */
export function readShapeParameters(db: Database, chain: LogChain): ShapeParameters {
  const head = db.prepare<[], number>('SELECT max(number) FROM blocks').pluck().get()!
  // With the plus SQLite makes no index of all logs for the one contract: it took minutes.
  const countBlocks = db.prepare<[Uint8Array], BlockCount>(
    `SELECT b.number AS block, count(*) AS count FROM blocks b
     CROSS JOIN logs l ON l.id >= b.first_log AND l.id < b.first_log + b.n_logs
     WHERE b.number < ${EXACT_BLOCKS} AND +l.address_id = (SELECT id FROM addresses WHERE address = ?)
     GROUP BY b.number ORDER BY b.number`,
  )
  const exact = findExactRange((rank) => countBlocks.all(chain.contracts[rank]))
  return {
    head,
    scatteredRank: findScatteredRank(db, chain),
    exact: exact
      ? { address: formatData(chain.contracts[exact.rank]), fromBlock: exact.fromBlock, toBlock: exact.toBlock }
      : { address: formatData(chain.contracts[1]), fromBlock: 0, toBlock: head },
  }
}

function findScatteredRank(db: Database, chain: LogChain): number {
  const topics = Array.from({ length: RANKS }, (_, rank) => trimLeft(topicOf(chain.holder(rank))))
  const counts = db
    .prepare<Uint8Array[], { topic: Buffer; count: number }>(
      `SELECT topic1 AS topic, count(*) AS count FROM logs WHERE topic1 IN (${topics.map(() => '?').join(',')})
       GROUP BY topic1`,
    )
    .all(...topics)
  const popular = new Set(counts.filter(({ count }) => count > SCATTERED_LOGS).map(({ topic }) => formatData(topic)))
  const rank = topics.findIndex((topic) => !popular.has(formatData(topic)))
  return rank === -1 ? RANKS : rank
}

/** A contract, by rank from 1, and a range of blocks in which it has exactly 10,000 logs; undefined when no range that
 *  begins in one of its first 50 blocks has them. */
export function findExactRange(
  countsOf: (rank: number) => readonly BlockCount[],
): { rank: number; fromBlock: number; toBlock: number } | undefined {
  for (let rank = 1; rank < 100; rank++) {
    const counts = countsOf(rank)
    for (let start = 0; start < Math.min(50, counts.length); start++) {
      let sum = 0
      let end = start
      while (end < counts.length && sum < MAX_LOGS) sum += counts[end++].count
      // Of the ranks that follow there are fewer still.
      if (sum < MAX_LOGS && start === 0) return undefined
      if (sum < MAX_LOGS) break
      if (sum === MAX_LOGS) return { rank, fromBlock: counts[start].block, toBlock: counts[end - 1].block }
    }
  }
  return undefined
}
