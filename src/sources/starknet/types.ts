import type { Felt } from '../../chain/starknet/felt.js'
import type { L2NetworkName } from '../../chain/starknet/networks.js'
import type { L2Block } from '../../chain/starknet/types.js'
import type { L2Verdict, L2VerifyFunction } from '../../chain/starknet/verify.js'
import type { Logger } from '../../lib/logger.js'
import type { Clock } from '../upstreams/clock.js'
import type { Stall } from '../upstreams/pool.js'
import type { UpstreamAddress, UpstreamLimits, UpstreamRange, UpstreamStatus } from '../upstreams/types.js'
import type { Upstream } from '../upstreams/upstream.js'

/** Number and hash of a layer-2 block. */
export interface L2BlockRef {
  readonly number: number
  readonly hash: Felt
}

/** The head of an upstream, as it reports it. */
export interface L2UpstreamHead {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly timestamp?: bigint
}

/** A block of an upstream in the form of a recording. */
export interface L2Fetched {
  readonly block: L2Block
  /** JSON of the recording, as `readL2Recording` reads it. */
  readonly json: unknown
}

/** A block whose hash was recomputed, as far as its upstream returns what the hash covers. */
export interface L2Verified {
  readonly block: L2Block
  readonly verdict: L2Verdict
  /** JSON of the recording, deflated (RFC 1950). */
  readonly raw: Uint8Array
}

/** How blocks are requested from one kind of upstream. Every function throws UpstreamInvalidResponse for what cannot be
 *  read, and UpstreamError. */
export interface L2Dialect {
  /** Returns the chain id as text, such as SN_MAIN; undefined where it cannot be requested. Learns what the upstream
   *  supports. */
  chainId(upstream: Upstream, signal?: AbortSignal): Promise<string | undefined>
  head(upstream: Upstream, signal?: AbortSignal): Promise<L2UpstreamHead>
  /** Returns confirmed blocks in the order of the numbers, not verified; undefined for those that the upstream does not
   *  have, or rejected. */
  blocks(upstream: Upstream, numbers: readonly number[], signal?: AbortSignal): Promise<(L2Fetched | undefined)[]>
  /** Returns the same block with its state diff; undefined where the upstream no longer has it. */
  withStateDiff(upstream: Upstream, fetched: L2Fetched, signal?: AbortSignal): Promise<L2Fetched | undefined>
  /** True when the upstream's answers contain everything that block hashes cover. */
  isComplete(upstream: Upstream): boolean
  /** Returns hash and status of a block; undefined where the upstream does not have it. */
  status(upstream: Upstream, number: number, signal?: AbortSignal): Promise<L2StatusRef | undefined>
  /** Returns the highest block accepted on layer 1; undefined where the upstream does not know the tag. */
  acceptedOnL1(upstream: Upstream, signal?: AbortSignal): Promise<L2BlockRef | undefined>
  /** Returns the unconfirmed block on top of block `parent`; undefined without one. */
  pending(upstream: Upstream, parent: number, signal?: AbortSignal): Promise<L2Fetched | undefined>
}

/** A block with its layer-1 acceptance as the upstream reports it. */
interface L2StatusRef extends L2BlockRef {
  readonly isAcceptedOnL1: boolean
}

export interface L2UpstreamsOptions {
  /** Starknet JSON-RPC 0.6 to 0.10, over http, https, ws or wss. */
  readonly rpc: readonly UpstreamAddress[]
  /** Feeder gateways, over http or https. At least one of the two lists is not empty. */
  readonly feeders: readonly UpstreamAddress[]
  /** Undefined: hashes are not recomputed. */
  readonly verify?: L2VerifyFunction
  /** The chain that every upstream must be of, as far as known: chain id, network, and a block that cannot change. */
  readonly expected: () => { chainId?: string; network?: L2NetworkName; block?: L2BlockRef }
  readonly log: Logger
  readonly limits?: Partial<UpstreamLimits>
  /** Time and timers, for tests. */
  readonly clock?: Clock
  /** In [0, 1), for the jitter of back-off times. */
  readonly random?: () => number
}

/** Upstreams of one layer-2 chain. Every method asks the healthiest one, and another one when it fails or sends
 *  something that fails a check; while none can be asked, it waits, until `signal` aborts it. Returns `undefined` for
 *  what no upstream has. */
export interface L2Upstreams {
  /** Compares the chain of every upstream that can be reached. @throws WrongChain */
  start(signal?: AbortSignal): Promise<void>
  /** Returns the newest block, as the upstream reports it. */
  head(signal?: AbortSignal): Promise<L2UpstreamHead>
  /** Reports each new head until `signal` aborts: by `starknet_subscribeNewHeads`, else by polling. */
  watchHeads(onHead: (head: L2UpstreamHead) => void, signal: AbortSignal): Promise<void>
  /** Returns the hash of a block, which was verified. */
  hashAt(number: number, signal: AbortSignal): Promise<Felt | undefined>
  /** Yields verified blocks in order, each linked to the previous one. @throws ChainReorganized */
  blocks(range: UpstreamRange): AsyncGenerator<L2Verified, void, undefined>
  /** Returns the highest of the stored blocks from `from` to `to` that the upstream reports as accepted on layer 1;
   *  undefined for none. `hashOf` returns the hash of a stored block. */
  acceptedOnL1(
    range: { from: number; to: number },
    hashOf: (number: number) => Felt | undefined,
    signal?: AbortSignal,
  ): Promise<number | undefined>
  /** Returns the unconfirmed block on top of `parent`, and its deflated JSON. */
  pending(parent: L2BlockRef, signal?: AbortSignal): Promise<{ block: L2Block; raw: Uint8Array } | undefined>
  /** Quarantines the upstream of a block that was refused after it was yielded. */
  reportInvalid(block: L2Block, problem: { check: string; message: string }): void
  /** Status of each upstream: RPC upstreams first, in the order of the options. */
  status(): UpstreamStatus[]
  /** Why the upstreams send nothing usable, and for how long; undefined while they answer with valid data. */
  stall(): Stall | undefined
  /** Data of the upstreams was stored, or their head is: their earlier errors no longer count as a stall. */
  progressed(): void
  close(): void
}
