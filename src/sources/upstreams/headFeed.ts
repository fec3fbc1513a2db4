import type { HeadTime } from './blockTime.js'
import type { OptionalMethod } from './features.js'
import type { Upstream } from './upstream.js'

/** How heads of one kind of chain are fetched. */
export interface HeadFeed<H extends { readonly hash: Uint8Array }> {
  /** @throws UpstreamError */
  fetch(upstream: Upstream, signal: AbortSignal): Promise<H>
  /** Methods of a subscription; `subscribe` returns the id that `unsubscribe` accepts. */
  readonly subscription: { subscribe: OptionalMethod; params: readonly unknown[]; unsubscribe: string }
  /** Reads the head of a notification; undefined for one without a head. @throws UpstreamInvalidResponse */
  read(upstream: Upstream, result: unknown): H | undefined
  timeOf(head: H): HeadTime
}
