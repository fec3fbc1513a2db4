/** Limits on the subscriptions and filters of clients. */
export interface SubscriptionLimits {
  /** Subscriptions of a connection. */
  readonly connectionSubscriptions: number
  /** Subscriptions of a key, or of a remote address if keys are not required. */
  readonly clientSubscriptions: number
  /** Filters of a key or address. */
  readonly filters: number
  /** Memory for the filters and subscriptions of a key or address. */
  readonly filterBytes: number
  /** The same for all clients together. */
  readonly totalFilterBytes: number
  /** A filter that is not polled for this long is removed. */
  readonly filterTimeoutMs: number
}

/** The timeout is geth's. */
export const DEFAULT_SUBSCRIPTION_LIMITS: SubscriptionLimits = {
  connectionSubscriptions: 256,
  clientSubscriptions: 10_000,
  filters: 1_000,
  // 10,000 subscriptions with four addresses and topics each.
  filterBytes: 32_000_000,
  totalFilterBytes: 128_000_000,
  filterTimeoutMs: 300_000,
}
