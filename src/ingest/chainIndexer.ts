import type { Block, Receipt } from '../chain/eth/types.js'
import { createLogIndexer } from '../logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../logs/logSearchIndex.js'
import { stepInTurn } from '../segments/indexer.js'
import type { IndexKind } from '../segments/indexKind.js'
import type { Database } from '../store/database.js'
import { createTransactionIndexer, TRANSACTION_INDEX } from '../transactions/transactionIndex.js'

/** All indexes of a chain. */
export const CHAIN_INDEXES: readonly IndexKind<unknown>[] = [LOG_SEARCH_INDEX, TRANSACTION_INDEX]

/** The writer of all indexes of a chain: of logs, and of transactions by hash. Everything takes effect with the
 *  transaction that the caller is in. */
export interface ChainIndexer {
  /** Takes a block that was just stored. A chunk that becomes full is sealed by `work`; only when the next one is full
   *  before that, on the spot. */
  add(block: Pick<Block, 'transactions'>, receipts: readonly Pick<Receipt, 'logs'>[]): void
  /** Seals full chunks, merges segments and deletes what was merged, for about `budgetMs`; true when there is more to
   *  do. */
  work(budgetMs: number): boolean
  /** Makes the indexes those of the stored blocks, after later ones were removed. */
  truncate(): void
  /** Forgets what lies in memory: to be called after a rollback. */
  forget(): void
}

/** The indexers of a database opened for writing. What an earlier process left unfinished is given up and begun again. */
export function createChainIndexer(db: Database, options: { chunkBits?: number } = {}): ChainIndexer {
  const logs = createLogIndexer(db, options)
  const transactions = createTransactionIndexer(db, options)
  const both = [logs, transactions] as const
  return {
    add: (block, receipts) => {
      logs.add(receipts.flatMap((receipt) => receipt.logs))
      transactions.add(block.transactions.map(({ hash }) => hash))
    },
    work: (budgetMs) => stepInTurn(both, budgetMs),
    truncate: () => {
      for (const indexer of both) indexer.truncate()
    },
    forget: () => {
      for (const indexer of both) indexer.forget()
    },
  }
}
