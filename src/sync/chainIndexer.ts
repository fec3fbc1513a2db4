import type { Block, Receipt } from '../chain/eth/types.js'
import { ADDRESS_INDEX } from '../index/addresses/appearanceIndex.js'
import { createLogIndexer } from '../index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../index/logs/logSearchIndex.js'
import { SegmentIndexer, stepInTurn } from '../index/segments/indexer.js'
import type { IndexKind } from '../index/segments/indexKind.js'
import { createTransactionIndexer, TRANSACTION_INDEX } from '../index/transactions/transactionIndex.js'
import type { Database } from '../store/database.js'

/** All indexes of a chain. */
export const CHAIN_INDEXES: readonly IndexKind<unknown>[] = [LOG_SEARCH_INDEX, TRANSACTION_INDEX, ADDRESS_INDEX]

/** Writes all indexes of a chain: logs, transactions by hash, and transactions by address. Writes join the caller's
 *  transaction. */
export interface ChainIndexer {
  /** Adds a block that was just stored. `work` seals full chunks; `add` seals one itself only when the next chunk is
   *  full too. `addressIds` are those of each transaction, if they were stored. */
  add(
    block: Pick<Block, 'transactions'>,
    receipts: readonly Pick<Receipt, 'logs'>[],
    addressIds?: readonly (readonly number[])[],
  ): void
  /** Seals full chunks, merges segments and deletes merged ones for about `budgetMs`. True when more work is left. */
  work(budgetMs: number): boolean
  /** Lets `work` seal full chunks at once: their blocks are final. */
  sealNow(): void
  /** Truncates the indexes to the stored blocks, after later blocks were removed. */
  truncate(): void
  /** Discards cached state. Call it after a rollback. */
  clear(): void
}

/** Creates the indexers of a database opened for writing. Restarts unfinished work of an earlier process. */
export function createChainIndexer(db: Database, options: { chunkBits?: number } = {}): ChainIndexer {
  const logs = createLogIndexer(db, options)
  const transactions = createTransactionIndexer(db, options)
  const addresses = new SegmentIndexer(db, ADDRESS_INDEX, options)
  const all = [logs, transactions, addresses] as const
  return {
    add: (block, receipts, addressIds) => {
      logs.add(receipts.flatMap((receipt) => receipt.logs))
      transactions.add(block.transactions.map(({ hash }) => hash))
      if (addressIds) addresses.add(addressIds)
    },
    work: (budgetMs) => stepInTurn(all, budgetMs),
    sealNow: () => {
      for (const indexer of all) indexer.sealNow()
    },
    truncate: () => {
      for (const indexer of all) indexer.truncate()
    },
    clear: () => {
      for (const indexer of all) indexer.clear()
    },
  }
}
