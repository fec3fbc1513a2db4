import type { RpcContext } from './context.js'
import type { RpcErrorBody } from './errors.js'

/** Where a method runs: `point` on the main thread (microseconds to a few milliseconds); `scan` and `evm` in a reader
 *  thread under a deadline. */
export type CostClass = 'point' | 'scan' | 'evm'

/** A JSON schema, for the OpenRPC document and the reference page. */
export type JsonSchema = { readonly [key: string]: unknown }

/** One positional parameter: how it is called in documents and by name, and how its JSON value is read. */
export interface Param<T> {
  readonly name: string
  readonly summary: string
  readonly required: boolean
  readonly schema: JsonSchema
  /** The value of the JSON. An absent or null optional parameter is decoded from `undefined`.
   *  `path` names the place in messages, as in `filter.topics[1]`; empty for the parameter itself.
   *  @throws InvalidValue saying what was expected and what came. */
  decode(value: unknown, path: string): T
}

/** An error a method may answer with beside the general ones (-32600 to -32603), for documents. */
export interface ErrorDoc {
  readonly code: number
  readonly message: string
}

/** Which outcomes of a method may be kept and given again. */
export interface Caching<P extends readonly unknown[] = readonly unknown[]> {
  /** What names the outcome of the call as the chain is whenever it is asked: on the main thread, with its context, before
   *  the call is run and again when the outcome has come. Calls of equal names have the same outcome, whatever happens to
   *  the chain, so a name holds the hash of the block on which all that is read depends. Undefined when there is no such
   *  name. Both may throw what the handler would. */
  keyOf?(context: RpcContext, ...params: P): () => string | undefined
  /** The same from the parameters as they came, for methods whose runs are so short that decoding them twice would cost
   *  more than the cache saves. Calls that are refused for their parameters may share a name with each other only. */
  keyOfRaw?(context: RpcContext, params: readonly unknown[]): () => string | undefined
  /** True for an error that every run would give; without it, only results are kept. */
  keepsError?(error: RpcErrorBody, context: RpcContext): boolean
}

/** A JSON-RPC method: its whole contract and its handler. The result is plain JSON data, or `JsonBytes` where the
 *  handler has written the JSON itself. */
export interface Method<P extends readonly unknown[] = readonly unknown[]> {
  readonly name: string
  /** Other names that are answered the same. */
  readonly summary: string
  /** More for the reference page, in Markdown. */
  readonly description?: string
  readonly cost: CostClass
  readonly params: { readonly [K in keyof P]: Param<P[K]> }
  readonly result: { readonly name: string; readonly schema: JsonSchema }
  readonly errors: readonly ErrorDoc[]
  /** Only for `scan` and `evm` methods; without it, every call is run. */
  readonly caching?: Caching<P>
  /** Only for methods that give their outcome at once where `evm` does: what says most about how long a call takes, from its
   *  parameters as they came. Calls of equal names mostly take about as long as each other. Undefined for a call that is to
   *  run in a thread; without it, all do. */
  costKey?(params: readonly unknown[]): string | undefined
  /** Fewer or by-name parameters only: an object stands for one that holds every parameter by its name. */
  handler(context: RpcContext, ...params: P): unknown
}

/** A method whose handler's parameter types come from its decoders. */
export function defineMethod<const P extends readonly unknown[]>(method: Method<P>): Method {
  return method as unknown as Method
}

/** JSON text that a handler wrote itself as bytes: goes to the socket as it is. */
export class JsonBytes {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
