import type { EvmKind } from '../../evm/kinds.js'
import type { LogSettings } from '../../lib/logger.js'
import type { CallMessage } from '../../rpc/core/boundCall.js'
import type { Compatibility, RpcLimits } from '../../rpc/core/context.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'

/** Start data of a reader thread. */
export interface ReaderData {
  readonly datadir: string
  readonly limits: RpcLimits
  readonly compatibility?: Compatibility
  readonly logging: LogSettings
  /** URL of a module that exports another method table than Cairn's own, as `METHODS`. */
  readonly methodsModule?: string
  /** The interpreter for calls. */
  readonly evm: EvmKind
  /** 32 bytes that authenticate log cursors; undefined: those of the database. */
  readonly cursorSecret?: Uint8Array
  /** Load the EVM and run a call before reporting `ready`. */
  readonly loadEvm: boolean
  /** Load the log index's tail and run log queries before reporting `ready`. */
  readonly warmLogs: boolean
  /** The server is not ready before this thread is: the thread lowers its priority only then. */
  readonly awaited?: boolean
  /** Its OS priority below the main thread's, as nice(2) counts. */
  readonly niceness: number
  /** Memory of the claims on its requests. */
  readonly claims: SharedArrayBuffer
  /** Memory of the flow of its results that are sent in parts. */
  readonly flow: SharedArrayBuffer
}

/** A call for a reader thread, which runs its calls in order. */
export interface ReaderRequest {
  /** Its claim slot, which also identifies its outcome. */
  readonly slot: number
  readonly call: CallMessage
  /** Arrival time, by `sharedClockMs`. */
  readonly queuedMs: number
  /** Time limit once the thread starts it. */
  readonly runMs: number
  /** The original time limit, for messages. */
  readonly limitMs: number
  /** In the quick queue: the request is aborted after this time and runs elsewhere. */
  readonly tryMs?: number
}

/** Asks an idle reader thread to stop, or to return memory to the system. A busy one finds `stopRequested` in its
 *  claims. */
export type ReaderCommand = 'stop' | 'rest'

/** Messages of a reader thread: that it is warm, then the outcome of each request, or that it was aborted after its
 *  `tryMs`. The first parts of a long result come before its outcome. The result is a string with one character per
 *  byte, or a transferred buffer. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly slot: number; readonly result: string | ArrayBuffer }
  | { readonly kind: 'part'; readonly slot: number; readonly part: ArrayBuffer }
  | { readonly kind: 'unfinished'; readonly slot: number }
  | { readonly kind: 'error'; readonly slot: number; readonly error: RpcErrorBody }

/** Returns the milliseconds of a clock that all threads of the process share, unlike `performance.now()`. */
export function sharedClockMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
