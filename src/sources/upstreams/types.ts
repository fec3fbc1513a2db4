/** Address of an upstream node. */
export interface UpstreamAddress {
  /** http, https, ws or wss. User and password of the URL are sent as basic authorization. */
  readonly url: string
  /** Sent with every request, and with the WebSocket handshake. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Bounds of requests and of prefetching. */
export interface UpstreamLimits {
  /** From sending a request to the last byte of its response. */
  readonly requestTimeoutMs: number
  /** Maximum size of one response, decompressed. A longer one is aborted while it arrives. */
  readonly maxResponseBytes: number
  /** Requests in flight at one upstream. */
  readonly maxConcurrency: number
  /** Calls in one batch request. */
  readonly maxBatch: number
  /** Prefetched blocks and receipts, by their encoded size. */
  readonly prefetchBytes: number
  /** Number of prefetched blocks. */
  readonly prefetchBlocks: number
}

/** The default limits. */
export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = {
  requestTimeoutMs: 20_000,
  maxResponseBytes: 64 * 2 ** 20,
  maxConcurrency: 16,
  maxBatch: 64,
  prefetchBytes: 64 * 2 ** 20,
  prefetchBlocks: 1024,
}

/** The fields that link a block to the previous one. */
export interface BlockLink {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly parentHash: Uint8Array // 32
}

/** Which blocks are fetched in order. */
export interface UpstreamRange {
  readonly from: number
  /** Inclusive. Undefined: no end; at the head it waits for new blocks. */
  readonly to?: number
  /** Hash of block `from - 1`, where it is stored: the first block must link to it. */
  readonly parentHash?: Uint8Array
  /** Blocks come with verified receipts. Default: as the upstreams were opened. Only of Ethereum chains. */
  readonly withReceipts?: boolean
  /** Blocks come with verified access lists, where the upstream has them (EIP-7928). Only of Ethereum chains. */
  readonly withAccessLists?: boolean
  /** Ends the iteration; it throws the signal's reason. */
  readonly signal?: AbortSignal
}

/** Status of an upstream. */
export interface UpstreamStatus {
  /** Redacted URL. */
  readonly upstream: string
  /** `failing`: the circuit breaker is open after failed requests. `quarantined`: it sent an invalid response.
   *  `refused`: it is of another chain, and not asked for some minutes. */
  readonly state: 'ok' | 'failing' | 'quarantined' | 'refused'
  /** Milliseconds until it may be asked again; 0 when it may be now. */
  readonly retryInMs: number
  readonly concurrency: number
  readonly batchSize: number
  /** Moving average; undefined before the first response. */
  readonly latencyMs?: number
  readonly failures: number
  readonly invalidResponses: number
}
