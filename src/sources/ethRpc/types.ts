import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import type { Header, PendingBlock } from '../../chain/eth/types.js'
import type { Logger } from '../../lib/logger.js'
import type { SenderRecovery } from '../senders/senderRecovery.js'
import type { BlockSource, RawBlock } from '../source.js'
import type { Clock } from '../upstreams/clock.js'
import type { Stall } from '../upstreams/pool.js'
import type { UpstreamAddress, UpstreamLimits, UpstreamRange, UpstreamStatus } from '../upstreams/types.js'
import type { UpstreamState } from './stateTypes.js'

export interface EthRpcOptions {
  /** At least one. Equally healthy ones are preferred in this order. */
  readonly upstreams: readonly UpstreamAddress[]
  /** Every upstream must report this chain id. */
  readonly chainId: bigint
  /** Rules of the chain, by whose family blocks are decoded. Default: Ethereum. */
  readonly spec?: ChainSpec
  /** Hash of block 0, 32 bytes. An upstream with another one is refused; one that has pruned block 0 is not. */
  readonly genesisHash: Uint8Array
  /** Blocks come with verified receipts, as `--state none` needs them. */
  readonly withReceipts?: boolean
  /** Recovers the senders of prefetched blocks in another thread. Default: the calling thread recovers all. */
  readonly senderRecovery?: SenderRecovery
  readonly log: Logger
  readonly limits?: Partial<UpstreamLimits>
  /** Failures after which a method throws the last one, as it does at once for an invalid response while no other
   *  upstream can be asked. Default: methods wait. */
  readonly maxFailures?: number
  /** Time and timers, for tests. */
  readonly clock?: Clock
  /** In [0, 1), for the jitter of back-off times. */
  readonly random?: () => number
}

/** A header of an upstream. Cairn recomputed its hash. */
export interface UpstreamHeader {
  readonly hash: Uint8Array // 32
  readonly header: Header
  /** Unverified, and absent at many nodes. */
  readonly totalDifficulty?: bigint
  /** Redacted URL of the upstream that returned it. */
  readonly upstream: string
}

/** A block number, a block hash of 32 bytes, or a tag. */
export type UpstreamBlockId = number | Uint8Array | 'earliest' | 'latest' | 'safe' | 'finalized'

/** The newest stored block, and the upstream that last reported it. */
export interface FollowedHead {
  readonly number: number
  readonly hash: Uint8Array // 32
  /** Redacted URL; undefined before any reported it. */
  readonly upstream?: string
}

/** One or more upstream nodes of one chain. Every method asks the healthiest upstream, and another one when it fails or
 *  sends something that fails a check. While no upstream can be asked, methods wait with back-off, until `signal`
 *  aborts them (they throw its reason then). Never returns anything that failed a check. Returns `undefined` for what
 *  no available upstream has. */
export interface EthRpc extends UpstreamState {
  /** Asks every upstream for its chain id and genesis hash. Asks one that cannot be reached again before its first use.
   *  @throws WrongChain for an upstream of another chain, with both values. */
  start(signal?: AbortSignal): Promise<void>
  /** Returns the newest header of the upstream. It may be lower than that of an earlier call: after a reorg, or where
   *  several nodes share one URL. */
  head(signal?: AbortSignal): Promise<UpstreamHeader>
  /** Returns the upstream's safe or finalized header; undefined where it knows none or does not support the tag. */
  taggedHeader(tag: 'safe' | 'finalized', signal?: AbortSignal): Promise<UpstreamHeader | undefined>
  /** Returns the canonical header of that number. */
  headerByNumber(blockNumber: number, signal?: AbortSignal): Promise<UpstreamHeader | undefined>
  /** Returns the header of that hash, canonical or not. */
  headerByHash(blockHash: Uint8Array, signal?: AbortSignal): Promise<UpstreamHeader | undefined>
  /** Returns a block whose hash, transactions root, uncles hash and withdrawals root were recomputed, with receipts
   *  (receipts root and bloom recomputed) if `withReceipts` asks for them: the argument, else the option. */
  getBlock(id: UpstreamBlockId, signal?: AbortSignal, withReceipts?: boolean): Promise<RawBlock | undefined>
  /** Yields blocks in order, each linked to the previous one, prefetched within the limits. With `withReceipts` the
   *  first one has the upstream's total difficulty if reported.
   *  @throws ChainReorganized when the next block of every upstream has another parent. */
  blocks(range: UpstreamRange): AsyncIterable<RawBlock>
  /** `blocks` from block 0 or `BlockRange.from` on, as a source for the import pipeline. */
  source(range?: Omit<UpstreamRange, 'from'>): BlockSource
  /** Reports each new head until `signal` aborts: by `newHeads` of a WebSocket upstream, resubscribed after a lost
   *  connection, else by polling. The first call has the current head. Resolves when `signal` aborts; rejects with what
   *  `onHead` throws. Heads that arrive while `onHead` runs are merged: the newest is reported next. */
  watchHeads(onHead: (head: UpstreamHeader) => void | Promise<void>, signal: AbortSignal): Promise<void>
  /** Returns the upstream's pending block; transactions, their root and that of the withdrawals were recomputed.
   *  Undefined where it has none that can be read. Its state and receipts are unverified. */
  pendingBlock(signal?: AbortSignal): Promise<PendingBlock | undefined>
  /** Asks the upstreams other than that of `target` whether they have the stored head, on a chain that is not shorter
   *  than the target's. @returns the head of one that does, which is asked first from now on; `unknown` while the
   *  upstream of the stored head has failed for less than 10 s; undefined when none does */
  findUpstreamOnFork(
    own: FollowedHead,
    target: UpstreamHeader,
    signal?: AbortSignal,
  ): Promise<UpstreamHeader | 'unknown' | undefined>
  /** Quarantines the upstream of a block that execution or another later check refused. `raw` is as it was yielded. */
  reportInvalid(raw: RawBlock, error: InvalidBlock): void
  /** Status of each upstream, in the order of the options. */
  status(): UpstreamStatus[]
  /** Why the upstreams send nothing usable, and for how long; undefined while they answer with valid data. */
  stall(): Stall | undefined
  /** Data of the upstreams was stored, or their head is: their earlier errors no longer count as a stall. */
  progressed(): void
  /** Closes all connections. Running and waiting calls reject with UpstreamsClosed. */
  close(): void
}
