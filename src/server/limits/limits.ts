/** What clients together may take of a server. */
export interface ServerLimits {
  /** HTTP and WebSocket together. */
  readonly maxConnections: number
  /** Requests of a key under way, of a remote address where no keys are asked for. */
  readonly maxInFlight: number
  /** Bytes of request bodies that are received, wait or are worked on. */
  readonly bodyBytes: number
  /** Bytes of answers that are made or not yet taken by their clients. */
  readonly outputBytes: number
  /** The same of one connection. Beyond, its next request waits. */
  readonly connectionOutputBytes: number
  /** A client that takes nothing of its answer for so long is cut off. */
  readonly writeStallMs: number
  /** A body under way grows by `bodyLeastBytes` in every such time, or it is ended with 408. */
  readonly bodyStallMs: number
  readonly bodyLeastBytes: number
}

/** Together with the threads and caches they keep the process below 1.5 GB. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxConnections: 10_000,
  maxInFlight: 1_024,
  bodyBytes: 128_000_000,
  outputBytes: 256_000_000,
  // Above the 25 MB of the largest batch response.
  connectionOutputBytes: 32_000_000,
  writeStallMs: 30_000,
  // 4 kB/s, a tenth of a bad mobile connection. TCP repeats a lost segment after 1, 3 and 7 s.
  bodyStallMs: 10_000,
  bodyLeastBytes: 40_000,
}
