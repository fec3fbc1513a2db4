import type { Database } from '../../../src/store/database.js'
import type { SeededRandom } from '../../support/random.js'

/** A transaction with its place, as the oracle of look-ups knows it. */
export interface PlacedTransaction {
  hash: Uint8Array // 32
  blockNumber: number
  index: number
}

/** Number of the first block. */
export const FIRST_BLOCK = 500

/** Writes `count` blocks with random hashes after those that are there, as plain rows; gives their transactions, 0 to
 *  30 in a block, in order. */
export function appendBlocks(db: Database, random: SeededRandom, count: number): PlacedTransaction[] {
  const insertBlock = db.prepare(
    `INSERT INTO blocks (number, hash, parent_hash, uncles_hash, miner, state_root, transactions_root, receipts_root,
       difficulty, total_difficulty, gas_limit, gas_used, timestamp, extra_data, mix_hash, nonce, size,
       first_tx, n_tx, first_log, n_logs)
     VALUES (?, ?, x'', x'', x'', x'', x'', x'', 0, 0, 0, 0, 0, x'', x'', x'', 0, ?, ?, 0, 0)`,
  )
  const insertTransaction = db.prepare(
    `INSERT INTO transactions (id, hash, block_number, type, sender, nonce, gas_limit, value, input, v, r, s)
     VALUES (?, ?, ?, 0, x'', 0, 0, 0, x'', 0, x'', x'')`,
  )
  const newest = db.prepare<[], { next: number; nextTx: number }>(
    'SELECT number + 1 AS next, first_tx + n_tx AS nextTx FROM blocks ORDER BY number DESC LIMIT 1',
  )
  const made: PlacedTransaction[] = []
  db.transaction(() => {
    let { next, nextTx } = newest.get() ?? { next: FIRST_BLOCK, nextTx: 0 }
    for (const end = next + count; next < end; next++) {
      const size = random.below(31)
      insertBlock.run(next, random.bytes(32), nextTx, size)
      for (let index = 0; index < size; index++) {
        const hash = random.bytes(32)
        insertTransaction.run(nextTx++, hash, next)
        made.push({ hash, blockNumber: next, index })
      }
    }
  })()
  return made
}
