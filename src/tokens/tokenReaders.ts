import type { LogSource } from '../index/logs/query.js'
import { keyOfBytes } from '../lib/bytes.js'
import type { Deadline } from '../lib/deadline.js'
import type { CommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { AccountSums, type TokenBalance } from './accountTokens.js'
import { HolderSums, type Holders } from './holders.js'
import { TokenDirectory } from './tokenDirectory.js'
import { TransferReader } from './transferReader.js'

/** Balances that one request keeps at most: about 150 MB with their list. */
const MAX_HOLDINGS = 500_000
/** Holders that stay in memory for the next page: about 20 MB. */
const MAX_KEPT = 100_000

/** Blocks whose transfers count: from the first stored one to `toBlock`, whose hash identifies them. */
export interface TokenBlocks {
  readonly fromBlock: number
  readonly toBlock: number
  readonly hash: Uint8Array // 32
}

/** Readers of tokens over one connection. */
export interface TokenReaders {
  readonly transfers: TransferReader
  /** Finds tokens by name. */
  readonly directory: TokenDirectory
  /** Holders of a token (20 bytes) after the last block. @throws DeadlineExceeded, TooManyHoldings */
  holders(token: Uint8Array, blocks: TokenBlocks, deadline: Deadline): Holders
  /** Tokens of an account (20 bytes) after the last block, of these contracts or of all. @throws DeadlineExceeded,
   *  TooManyHoldings */
  balances(
    account: Uint8Array,
    blocks: Omit<TokenBlocks, 'hash'> & { tokens?: readonly Uint8Array[] },
    deadline: Deadline,
  ): TokenBalance[]
}

/** Creates readers with statements prepared once. The holders of the last token are kept for its next pages.
 *  `maxHoldings`: balances that one query keeps at most; default 500,000. */
export function createTokenReaders(
  db: Database,
  {
    maxHoldings = MAX_HOLDINGS,
    ...parts
  }: { watch: CommitWatch; logs: Pick<LogSource, 'findIds'>; maxHoldings?: number },
): TokenReaders {
  const transfers = new TransferReader(db, parts)
  const directory = new TokenDirectory(db, parts)
  let last: { key: string; holders: Holders } | undefined
  return {
    transfers,
    directory,
    holders: (token, { fromBlock, toBlock, hash }, deadline) => {
      const key = keyOfBytes(token) + keyOfBytes(hash)
      if (last?.key === key) return last.holders
      const sums = new HolderSums(maxHoldings)
      transfers.visit({ token, fromBlock, toBlock }, deadline, (transfer) => sums.add(transfer))
      const holders = sums.list()
      last = holders.holdings.length <= MAX_KEPT ? { key, holders } : undefined
      return holders
    },
    balances: (account, { fromBlock, toBlock, tokens }, deadline) => {
      const sums = new AccountSums(account, maxHoldings)
      for (const token of tokens ?? [undefined]) {
        transfers.visit({ token, account, fromBlock, toBlock }, deadline, (transfer) => sums.add(transfer))
      }
      return sums.list()
    },
  }
}
