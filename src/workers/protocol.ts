import type { EvmKind } from '../evm/kinds.js'
import type { LogLevel } from '../lib/logger.js'
import type { CallMessage } from '../rpc/core/boundCall.js'
import type { RpcLimits } from '../rpc/core/context.js'
import type { RpcErrorBody } from '../rpc/core/errors.js'

/** What a reader thread is started with. */
export interface ReaderData {
  readonly datadir: string
  readonly limits: RpcLimits
  readonly logLevel: LogLevel
  /** URL of a module that exports another method table than Cairn's own, as `METHODS`. */
  readonly methodsModule?: string
  /** What runs calls. */
  readonly evm: EvmKind
  /** Whether to load the EVM and run a call before saying `ready`. */
  readonly loadEvm: boolean
  /** Whether to read the logs that no segment covers and run log queries before saying `ready`. */
  readonly warmLogs: boolean
  /** Whether the server is not ready before this thread is: it gives way to the main thread only then. */
  readonly awaited?: boolean
  /** The memory of the claims on its requests. */
  readonly claims: SharedArrayBuffer
}

/** A call for a reader thread, which answers those that it was handed one after another. */
export interface ReaderRequest {
  /** Where the claim on it is (`claims`), and what its answer is known by. */
  readonly slot: number
  readonly call: CallMessage
  /** When it came, by `monotonicMs`. */
  readonly queuedMs: number
  /** How long it may run from when the thread begins it. */
  readonly runMs: number
  /** The time that the request was given, for words. */
  readonly limitMs: number
}

/** Tells a reader thread to end, where it handles no request. One that does finds `stopRequested` in its claims. */
export type ReaderCommand = 'stop'

/** What a reader thread says: once that it is warm, then the outcome of each request; and why it ends, when it failed. The
 *  result is a text with a character for each byte, or a buffer that is handed over. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly slot: number; readonly result: string | ArrayBuffer }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'error'; readonly slot: number; readonly error: RpcErrorBody }

/** Milliseconds by a clock that all threads of the process share, unlike `performance.now()`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
