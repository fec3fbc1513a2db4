import type { HeadTime } from './blockTime.js'
import type { OptionalMethod } from './features.js'
import type { Upstream } from './upstream.js'

/** How the heads of a kind of chain are got. */
export interface HeadFeed<H extends { readonly hash: Uint8Array }> {
  /** @throws UpstreamError */
  fetch(upstream: Upstream, signal: AbortSignal): Promise<H>
  /** How an upstream is asked for notifications; `subscribe` answers with the id that `unsubscribe` takes. */
  readonly subscription: { subscribe: OptionalMethod; params: readonly unknown[]; unsubscribe: string }
  /** The head of a notification; undefined for one that does not say it. @throws UpstreamInvalidResponse */
  read(upstream: Upstream, result: unknown): H | undefined
  timeOf(head: H): HeadTime
}
