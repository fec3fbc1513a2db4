import type { BlockLink } from './types.js'
import type { Upstream } from './upstream.js'

/** How blocks of one kind of chain are fetched from one upstream. Every function throws UpstreamInvalidResponse for
 *  what fails a check, and UpstreamError. */
export interface BlockFetcher<B> {
  /** Returns verified blocks in the order of the numbers; undefined for those that the upstream does not have. */
  fetch(upstream: Upstream, numbers: readonly number[], signal: AbortSignal | undefined): Promise<(B | undefined)[]>
  /** Returns the hash of the upstream's canonical block of that number, 32 bytes; undefined where it does not have
   *  it. */
  hashAt(upstream: Upstream, blockNumber: number, signal: AbortSignal | undefined): Promise<Uint8Array | undefined>
  /** Returns the number of the upstream's newest block. */
  headNumber(upstream: Upstream, signal: AbortSignal): Promise<number>
  linkOf(block: B): BlockLink
  /** Returns the approximate memory of a prefetched block, in bytes. */
  sizeOf(block: B): number
}

/** A block and the upstream that it came from. */
export interface FetchedBlock<B> {
  readonly block: B
  readonly upstream: Upstream
}
