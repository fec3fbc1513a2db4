import type { CallLimits } from '../../evm/calls/callContext.js'
import type { EvmService } from '../../evm/calls/evmService.js'
import type { Deadline } from '../../lib/deadline.js'
import type { Logger } from '../../lib/logger.js'
import type { LogSource } from '../../logs/query.js'
import type { ChainReader } from '../../store/chain/types.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import type { StateReads } from '../../store/state/stateReader.js'
import type { TransactionFinder } from '../../transactions/finder.js'

/** Limits that the operator can set; the contract's values are the defaults. */
export interface RpcLimits extends CallLimits {
  maxLogs: number // results of one log query: 10,000
  maxFilterParams: number // addresses and topic values of one log query: 5,000
  logsTimeoutMs: number // 10,000
  callTimeoutMs: number // 5,000
  queueTimeoutMs: number // longest that a request waits for a thread: 10,000
  slowLogsMs: number // a log query of at least so long is logged with what it did: 1,000; 0 logs none
}

/** How the pending block is written: with null `number` and `logsBloom`, as the API specification has it, or with its number
 *  and a bloom of zeros, as geth has it. */
export const PENDING_BLOCK_FORMS = ['specification', 'geth'] as const
export type PendingBlockForm = (typeof PENDING_BLOCK_FORMS)[number]

/** Canonical blocks [fromBlock, toBlock], both inclusive. `hash` is that of `toBlock`, 32 bytes: it identifies the chain. */
export interface ResolvedBlocks {
  readonly fromBlock: number
  readonly toBlock: number
  readonly hash: Uint8Array
}

/** What a handler may use. One per thread; `deadline` is the request's own. */
export interface RpcContext {
  readonly chain: ChainReader
  readonly transactions: TransactionFinder
  readonly logs: LogSource
  readonly l2: L2Reader
  /** Present where `evm` methods run: reader threads. */
  readonly evm: EvmService
  readonly state: StateReads
  readonly limits: RpcLimits
  readonly pendingBlock: PendingBlockForm
  /** Authenticates cursors; every connection to a database, and to a copy of it, has the same. 32 bytes. */
  readonly cursorSecret: Uint8Array
  readonly deadline: Deadline
  /** The blocks that the request names, where the method's `caching.resolveBlocks` resolved them. They are canonical. */
  readonly blocks?: ResolvedBlocks
  /** How long the request waited for its thread, which is not part of its deadline. */
  readonly waitedMs: number
  readonly log: Logger
  /** As `web3_clientVersion` says it: `Cairn/v0.1.0/linux-x64/node20`. */
  readonly clientVersion: string
}
