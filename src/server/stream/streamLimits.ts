import type { StreamFormat } from '../../export/stream/streamQuery.js'

/** Content types, which are also what a client accepts. */
export const STREAM_TYPES: { readonly [F in StreamFormat]: string } = {
  arrow: 'application/vnd.apache.arrow.stream',
  ndjson: 'application/x-ndjson',
}

/** Limits of `POST /v3/<KEY>/stream`. */
export interface StreamLimits {
  /** Responses at a time, of all clients; one client may have half of them. */
  readonly streams: number
  /** A response ends after this time, and says where to resume. */
  readonly timeoutMs: number
  /** Bytes a second of a key, or an address without keys, over all its streams; 0: no limit. */
  readonly bytesPerSecond: number
}

/** Default limits of `POST /v3/<KEY>/stream`. */
export const DEFAULT_STREAM_LIMITS: StreamLimits = { streams: 8, timeoutMs: 600_000, bytesPerSecond: 0 }

/** Longest body: 5,000 topics take 350 kB. */
export const MAX_STREAM_BODY_BYTES = 1_000_000
/** Filters of logs, and of transactions, at most. */
export const MAX_FILTERS = 100
/** Blocks of `recent` at most. */
export const MAX_RECENT = 128
/** Longest response; the client resumes. */
export const MAX_STREAM_BYTES = 2 ** 32
