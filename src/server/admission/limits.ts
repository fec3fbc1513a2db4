/** Resource limits for all clients together. */
export interface ServerLimits {
  /** HTTP and WebSocket together. */
  readonly maxConnections: number
  /** Requests in flight per key; per remote address on an open server. */
  readonly maxInFlight: number
  /** Longest wait for the minimum block of a request. */
  readonly minBlockWaitMs: number
  /** Bytes of request bodies that are received, queued or processed. */
  readonly bodyBytes: number
  /** Bytes of responses that are being built or not yet read by their clients. */
  readonly outputBytes: number
  /** The same per connection. Above it, the next request of the connection waits. */
  readonly connectionOutputBytes: number
  /** Bytes of notifications that a WebSocket client may leave unread; beyond that, it is disconnected. */
  readonly notificationBytes: number
  /** A client that reads nothing of its response for this long is disconnected. */
  readonly writeStallMs: number
  /** An incomplete body must grow by `bodyLeastBytes` per interval, otherwise the request ends with 408. */
  readonly bodyStallMs: number
  readonly bodyLeastBytes: number
  /** How often WebSocket clients are pinged. One that sends nothing until the next ping, not even a pong, is gone. */
  readonly pingMs: number
}

/** Together with threads and caches, these limits keep the process below 1.5 GB. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxConnections: 10_000,
  maxInFlight: 1_024,
  minBlockWaitMs: 2_000,
  bodyBytes: 128_000_000,
  outputBytes: 256_000_000,
  // Above the 25 MB of the largest batch response.
  connectionOutputBytes: 32_000_000,
  // A reorg of 16 full blocks.
  notificationBytes: 8_000_000,
  writeStallMs: 30_000,
  // 4 kB/s, a tenth of a bad mobile connection. TCP retransmits after 1, 3 and 7 s.
  bodyStallMs: 10_000,
  bodyLeastBytes: 40_000,
  // Below the idle timeout of common proxies and NATs: 60 s and more.
  pingMs: 30_000,
}
