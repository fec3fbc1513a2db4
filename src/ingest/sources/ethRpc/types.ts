import type { Header, PendingBlock } from '../../../chain/eth/types.js'
import type { Logger } from '../../../lib/logger.js'
import type { BlockSource, RawBlock } from '../../source.js'
import type { InvalidBlock } from '../../verify.js'
import type { Clock } from './clock.js'

/** Where an upstream node is reached. */
export interface UpstreamAddress {
  /** http, https, ws or wss. User and password of the URL are sent as basic authorization. */
  readonly url: string
  /** Sent with every request, and with the WebSocket handshake. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Bounds of requests and of prefetching. */
export interface EthRpcLimits {
  /** From sending a request to the last byte of its response. */
  readonly requestTimeoutMs: number
  /** One response, decompressed. A longer one is aborted while it arrives. */
  readonly maxResponseBytes: number
  /** Requests in flight at one upstream. */
  readonly maxConcurrency: number
  /** Calls in one batch request. */
  readonly maxBatch: number
  /** Blocks and receipts that are fetched ahead, by their encoded size. */
  readonly prefetchBytes: number
  /** Blocks that are fetched ahead. */
  readonly prefetchBlocks: number
}

/** The default limits. */
export const DEFAULT_ETH_RPC_LIMITS: EthRpcLimits = {
  requestTimeoutMs: 20_000,
  maxResponseBytes: 64 * 2 ** 20,
  maxConcurrency: 16,
  maxBatch: 64,
  prefetchBytes: 64 * 2 ** 20,
  prefetchBlocks: 1024,
}

export interface EthRpcOptions {
  /** At least one. Equally healthy ones are preferred in this order. */
  readonly upstreams: readonly UpstreamAddress[]
  /** Every upstream must report this chain id. */
  readonly chainId: bigint
  /** Hash of block 0, 32 bytes. An upstream with another one is refused; one that has pruned block 0 is not. */
  readonly genesisHash: Uint8Array
  /** Blocks come with verified receipts, as `--state none` needs them. */
  readonly withReceipts?: boolean
  readonly log: Logger
  readonly limits?: Partial<EthRpcLimits>
  /** Time and timers, for tests. */
  readonly clock?: Clock
  /** In [0, 1), for the jitter of back-off times. */
  readonly random?: () => number
}

/** A header of an upstream. Its hash was recomputed here. */
export interface UpstreamHeader {
  readonly hash: Uint8Array // 32
  readonly header: Header
  /** Unverified, and absent at many nodes. */
  readonly totalDifficulty?: bigint
  /** Redacted URL of the upstream that gave it. */
  readonly upstream: string
}

/** A block number, a block hash of 32 bytes, or a tag. */
export type UpstreamBlockId = number | Uint8Array | 'earliest' | 'latest' | 'safe' | 'finalized'

/** Which blocks `blocks` yields. */
export interface UpstreamRange {
  readonly from: number
  /** Inclusive. Undefined: no end; at the head it waits for new blocks. */
  readonly to?: number
  /** Hash of block `from - 1`, where it is held: the first block must link to it. */
  readonly parentHash?: Uint8Array
  /** Ends the iteration; it throws the signal's reason. */
  readonly signal?: AbortSignal
}

/** The newest block stored, and the upstream that told of it last. */
export interface FollowedHead {
  readonly number: number
  readonly hash: Uint8Array // 32
  /** Redacted URL; undefined before any told of it. */
  readonly upstream?: string
}

/** How an upstream is doing. */
export interface UpstreamStatus {
  /** Redacted URL. */
  readonly upstream: string
  /** `failing`: the circuit breaker is open after failed requests. `quarantined`: it sent something wrong. `refused`: it is of
   *  another chain, and not asked any more. */
  readonly state: 'ok' | 'failing' | 'quarantined' | 'refused'
  /** Milliseconds until it may be asked again; 0 when it may be now. */
  readonly retryInMs: number
  readonly concurrency: number
  readonly batchSize: number
  /** Moving average; undefined before the first response. */
  readonly latencyMs?: number
  readonly failures: number
  readonly lies: number
}

/** One or more upstream nodes of one chain. Every method asks the healthiest upstream, and another one when it fails or sends
 *  something that fails a check. While no upstream can be asked, methods wait with back-off, until `signal` aborts them
 *  (they throw its reason then). Nothing that failed a check is ever returned. What no upstream has that can be asked at the
 *  time is `undefined`. */
export interface EthRpc {
  /** Asks every upstream for its chain id and genesis hash. One that cannot be reached is asked again before its first use.
   *  @throws WrongChain for an upstream of another chain, with both values. */
  start(signal?: AbortSignal): Promise<void>
  /** The newest header of the upstream. It may be lower than that of an earlier call: after a reorg, or where several nodes
   *  stand behind one URL. */
  head(signal?: AbortSignal): Promise<UpstreamHeader>
  /** The header that the upstream calls safe or finalized; undefined where it knows none or does not support the tag. */
  taggedHeader(tag: 'safe' | 'finalized', signal?: AbortSignal): Promise<UpstreamHeader | undefined>
  /** The canonical header of that number. */
  headerByNumber(blockNumber: number, signal?: AbortSignal): Promise<UpstreamHeader | undefined>
  /** The header of that hash, canonical or not. */
  headerByHash(blockHash: Uint8Array, signal?: AbortSignal): Promise<UpstreamHeader | undefined>
  /** A block whose hash, transactions root, uncles hash and withdrawals root were recomputed, with receipts (receipts root and
   *  bloom recomputed) where `withReceipts` asks for them. */
  getBlock(id: UpstreamBlockId, signal?: AbortSignal): Promise<RawBlock | undefined>
  /** Blocks in order, each linked to the one before, fetched ahead within the limits. With `withReceipts` the first one has
   *  the upstream's total difficulty where it says one.
   *  @throws ChainReorganized when the next block of every upstream has another parent. */
  blocks(range: UpstreamRange): AsyncIterable<RawBlock>
  /** `blocks` from block 0 or `BlockRange.from` on, as the import pipeline takes them. */
  source(range?: Omit<UpstreamRange, 'from'>): BlockSource
  /** Tells of each new head until `signal` aborts: by `newHeads` of a WebSocket upstream, resubscribed after a lost
   *  connection, else by polling. The first call comes with the present head. Resolves when `signal` aborts; rejects with
   *  what `onHead` throws. Heads that come while `onHead` runs are merged: the newest is told next. */
  watchHeads(onHead: (head: UpstreamHeader) => void | Promise<void>, signal: AbortSignal): Promise<void>
  /** What the upstream would put into the next block; transactions, their root and that of the withdrawals were recomputed.
   *  Undefined where it has none that can be read. Nobody verified its state or receipts. */
  pendingBlock(signal?: AbortSignal): Promise<PendingBlock | undefined>
  /** Asks the upstreams besides that of `target` whether they keep to the stored head, with a chain that is not shorter than
   *  the target's. @returns the head of one that does, which is asked first from now on; `unknown` while the upstream of the
   *  stored head has failed for less than 10 s; undefined when none does */
  findKeeper(
    own: FollowedHead,
    target: UpstreamHeader,
    signal?: AbortSignal,
  ): Promise<UpstreamHeader | 'unknown' | undefined>
  /** Puts the upstream of a block aside that execution or another later check refused. `raw` is as it was yielded. */
  reportInvalid(raw: RawBlock, error: InvalidBlock): void
  /** In the order of the options. */
  status(): UpstreamStatus[]
  /** Ends all connections. What runs or waits rejects with UpstreamsClosed. */
  close(): void
}
