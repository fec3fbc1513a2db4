import type { ResolvedBlocks, RpcContext } from './context.js'
import type { RpcErrorBody } from './errors.js'
import type { MethodClass } from './methodClasses.js'

/** Where a method runs: `point` on the main thread (microseconds to a few milliseconds), or in a reader thread if it
 *  reads much of a block; `scan` and `evm` in a reader thread under a deadline. */
export type CostClass = 'point' | 'scan' | 'evm'

/** A JSON schema, for the OpenRPC document and the reference page. */
export type JsonSchema = { readonly [key: string]: unknown }

/** One positional parameter: its name, schema and decoder. */
export interface Param<T> {
  readonly name: string
  readonly summary: string
  readonly required: boolean
  readonly schema: JsonSchema
  /** Decodes the JSON value. An absent or null optional parameter is decoded from `undefined`. `path` locates the value
   *  in messages, as in `filter.topics[1]`; empty for the parameter itself. @throws InvalidValue with what was expected
   *  and what was found. */
  decode(value: unknown, path: string): T
}

/** An error that a method may return besides the general ones (-32600 to -32603), for documentation.
 *  `npm run record:rpc` records a call that fails with it: tools/rpcCases has one. */
export interface ErrorDoc {
  readonly code: number
  /** `…`, `<words>`, single capital letters and numbers stand for parts that differ; more may follow after a colon. */
  readonly message: string
  /** When it occurs, instead of a recorded call: only for errors that no call to a server of the bundled fixture can
   *  show. */
  readonly when?: string
}

/** The parameters of one call. */
export interface CallArguments<P extends readonly unknown[] = readonly unknown[]> {
  /** Undecoded, in order; absent ones are undefined. */
  readonly values: readonly unknown[]
  /** The decoded parameter; decoded once. @throws RpcError -32602 that names it. */
  arg<I extends number>(index: I): P[I]
}

/** Which outcomes of a method may be cached. An outcome must depend on the parameters and the resolved blocks alone. */
export interface Caching<P extends readonly unknown[] = readonly unknown[]> {
  /** Resolves the blocks that the call names, once, on the main thread. Undefined: the call is not cached, and its
   *  handler resolves them. @throws the handler's errors; the error is then the response */
  resolveBlocks(context: RpcContext, call: CallArguments<P>): ResolvedBlocks | undefined
  /** Identifies the call among those of the method on the same blocks. Undefined: not cached. */
  key(call: CallArguments<P>): string | undefined
  /** True for an error that every run would return; without it, only results are cached. */
  keepsError?(error: RpcErrorBody, context: RpcContext): boolean
}

/** A JSON-RPC method: definition and handler. The result is plain JSON data, or `JsonBytes` if the handler wrote the
 *  JSON itself. */
export interface Method<P extends readonly unknown[] = readonly unknown[]> {
  readonly name: string
  readonly summary: string
  /** More for the reference page, in Markdown. */
  readonly description?: string
  readonly cost: CostClass
  /** At least one; several if several limits of API keys apply: a trace of a simulated call is in `calls` and
   *  `traces`. */
  readonly classes: readonly [MethodClass, ...MethodClass[]]
  /** True for a method that answers without any block: others fail while the database has none (`requiringChain`). */
  readonly chainless?: boolean
  readonly params: { readonly [K in keyof P]: Param<P[K]> }
  readonly result: { readonly name: string; readonly schema: JsonSchema }
  readonly errors: readonly ErrorDoc[]
  /** For `scan` and `evm` methods only; without it, every call is run. */
  readonly caching?: Caching<P>
  /** Groups calls of similar duration by their undecoded parameters. The main thread runs short `evm` calls inline;
   *  short `scan` calls do not wait behind long ones. Undefined for a call that waits its turn for a thread; without
   *  it, all do. Only for methods whose handler is synchronous if the EVM is. */
  costKey?(values: readonly unknown[]): string | undefined
  /** Whether `context.session` is needed: by the handler of a `point` method, or by `prepareArgs`. */
  readonly usesSession?: boolean
  /** True where the first parameter is a call object as of `eth_call`. */
  readonly takesCall?: boolean
  /** True for a `point` method with effects, whose handler must not run again in a thread. */
  readonly runsOnce?: boolean
  /** Replaces the decoded parameters on the main thread, before the call is run or looked up in the cache. */
  prepareArgs?(context: RpcContext, ...params: P): readonly unknown[]
  /** True for a method that re-executes blocks: its time limit is that of traces, and it may send its result in
   *  parts. */
  readonly isTrace?: boolean
  /** The message of a call that exceeded its time limit, instead of geth's words. */
  readonly timeoutMessage?: (limitMs: number) => string
  handler(context: RpcContext, ...params: P): unknown
}

/** All methods by name. */
export type MethodTable = ReadonlyMap<string, Method>

/** A method whose handler's parameter types follow from its decoders. */
export function defineMethod<const P extends readonly unknown[]>(method: Method<P>): Method {
  return method as unknown as Method
}

/** JSON that a handler wrote as bytes; it is sent unchanged. */
export class JsonBytes {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
