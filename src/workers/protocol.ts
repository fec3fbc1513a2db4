import type { EvmKind } from '../evm/kinds.js'
import type { LogLevel } from '../lib/logger.js'
import type { RpcLimits } from '../rpc/context.js'
import type { RpcErrorBody } from '../rpc/errors.js'

/** What a reader thread is started with. */
export interface ReaderData {
  readonly datadir: string
  readonly limits: RpcLimits
  readonly logLevel: LogLevel
  /** URL of a module that exports `METHODS`, the table of methods to answer. */
  readonly methodsModule: string
  /** What runs calls. */
  readonly evm: EvmKind
  /** Whether to load the EVM before saying `ready`. */
  readonly loadEvm: boolean
  /** Whether to read the logs that no segment covers beforehand, between requests. */
  readonly warmLogs: boolean
}

/** A call for a reader thread. One at a time is under way in a thread. */
export interface ReaderRequest {
  readonly method: string
  /** As it came: decoded from JSON, not checked. */
  readonly params: unknown
  /** The time that is left of the request's. */
  readonly remainingMs: number
  /** The time that the request was given, for words. */
  readonly limitMs: number
}

/** What a reader thread says: once that it is ready, then the outcome of each request. The buffer is handed over,
 *  not copied. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly result: ArrayBuffer }
  | { readonly kind: 'error'; readonly error: RpcErrorBody }
