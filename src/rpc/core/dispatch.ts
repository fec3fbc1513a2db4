import { randomUUID } from 'node:crypto'
import { keyOfBytes } from '../../lib/bytes.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { describeError, Interruption } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import { isCanonical } from './blockId.js'
import { BoundCall, bindCall, type CallMessage } from './boundCall.js'
import type { RpcContext } from './context.js'
import type { RpcCall, RpcOutcome } from './envelope.js'
import {
  INTERNAL_ERROR,
  InvalidValue,
  invalidParams,
  LIMIT_EXCEEDED,
  METHOD_NOT_FOUND,
  QUERY_TIMEOUT,
  type RpcErrorBody,
  SERVER_ERROR,
  translateError,
} from './errors.js'
import { type CostClass, JsonBytes, type Method } from './method.js'
import type { CacheableCall, ResponseCache } from './responseCache.js'
import { createTimeSlices, type TimeSlices } from './timeSlices.js'

/** All methods by name. */
export type MethodTable = ReadonlyMap<string, Method>

/** Tells clients apart that share the threads fairly: the id of an API key, or a connection. */
export type ClientId = number | object

/** Whose call it is, and since when it waits. */
export interface CallOrigin {
  /** Calls without one belong to one and the same client. */
  readonly client?: ClientId
  /** Time from there on is taken off the call's own, by `performance.now()`: the call waited for another one to answer it.
   *  Absent when it is new: then its time begins when a thread begins it. */
  readonly sinceMs?: number
}

/** Where `scan` and `evm` methods run. Never rejects: what goes wrong is an error outcome. */
export interface RemoteRunner {
  run(call: BoundCall, origin?: CallOrigin): Promise<RpcOutcome>
}

/** Where small calls of `evm` methods run: on the spot. */
export interface InlineRunner {
  /** The outcome; undefined for a call that a thread is to run. */
  run(call: BoundCall): RpcOutcome | undefined
  /** Runs work on a call that is to see one state of the chain, once more when that changed meanwhile. */
  withSnapshot<T>(work: () => T): T
}

/** Texts of parameters together beyond which a call is not looked up: what is decoded for it on the main thread holds up
 *  everyone. Room for 5,000 values of a filter, which take 5 ms; 5 MB of them took 70. */
const MAX_KEYED_CHARACTERS = 500_000

/** Answers calls. */
export interface Dispatcher {
  /** The outcome of a call of a client: at once for `point` methods, later for those that run elsewhere. Never throws. */
  dispatch(call: RpcCall, client?: ClientId): RpcOutcome | Promise<RpcOutcome>
  /** How its batches share the time of the main thread; without it, each batch takes it as if it were alone. */
  readonly slices?: TimeSlices
  /** Is told of each item that is no call, and of its error. */
  onInvalid?(error: RpcErrorBody): void
}

/** The dispatcher for the calls of one client. Where `refusal` gives an error, that is the outcome of the call. */
export function dispatchFor(
  dispatcher: Dispatcher,
  client: ClientId,
  refusal?: () => RpcErrorBody | undefined,
): Dispatcher {
  const { slices, onInvalid } = dispatcher
  if (refusal === undefined) return { slices, onInvalid, dispatch: (call) => dispatcher.dispatch(call, client) }
  return {
    slices,
    onInvalid,
    dispatch(call) {
      const error = refusal()
      return error === undefined ? dispatcher.dispatch(call, client) : { error }
    },
  }
}

/** A dispatcher that runs `point` methods on the spot with `context` and everything else through `remote`, unless `cache`
 *  has the outcome or `inline` makes it. */
export function createDispatcher(options: {
  methods: MethodTable
  context: RpcContext
  remote: RemoteRunner
  log: Logger
  cache?: ResponseCache
  inline?: InlineRunner
}): Dispatcher {
  const { methods, context, remote, log, cache, inline } = options
  return {
    slices: createTimeSlices(),
    dispatch({ method: name, params }, client) {
      const method = methods.get(name)
      if (method === undefined) return { error: methodNotFound(name) }
      let call: BoundCall
      try {
        call = bindCall(method, params)
      } catch (error) {
        return describeFailure(error, method, log)
      }
      if (method.cost === 'point') return runCall(call, context)
      const run = (sinceMs?: number) => remote.run(call, { client, sinceMs })
      const runInline = inline && method.costKey && (() => inline.run(call))
      const answer = () => {
        const cached = cache && lookUp(call, context, { run, runInline })
        if (cached === undefined) return runInline?.() ?? run()
        return 'error' in cached ? cached : cache!.answer(cached)
      }
      return runInline === undefined ? answer() : inline!.withSnapshot(answer)
    },
  }
}

/** The call as the cache takes it; undefined when its outcome is not to be cached. An error where the call is refused for
 *  its parameters or blocks. */
function lookUp(
  call: BoundCall,
  context: RpcContext,
  runs: Pick<CacheableCall, 'run' | 'runInline'>,
): CacheableCall | { error: RpcErrorBody } | undefined {
  const { caching, name } = call.method
  if (caching === undefined || !isShort(call.values, MAX_KEYED_CHARACTERS)) return undefined
  try {
    const blocks = caching.resolveBlocks(context, call)
    if (blocks === undefined) return undefined
    call.blocks = blocks
    const key = caching.key(call)
    if (key === undefined) return undefined
    return {
      key: `${name} ${blocks.fromBlock} ${keyOfBytes(blocks.hash)} ${key}`,
      isCurrent: () => isCanonical(context.chain, blocks),
      lasts: (outcome) => 'result' in outcome || caching.keepsError?.(outcome.error, context) === true,
      ...runs,
    }
  } catch (error) {
    if (error instanceof Interruption) throw error
    const known = translateError(error)
    return known && { error: known } // the thread that runs the call finds and logs any other error
  }
}

/** True when the texts of a JSON value, each member counted as at least one character, have at most `limit` together. */
function isShort(value: unknown, limit: number): boolean {
  const open = [value]
  let left = limit
  while (open.length > 0) {
    const next = open.pop()
    left -= typeof next === 'string' ? next.length + 1 : 1
    if (typeof next === 'object' && next !== null) {
      const members = Object.values(next)
      if (members.length > left) return false
      for (const member of members) open.push(member)
    }
    if (left < 0) return false
  }
  return true
}

/** Binds and decodes the parameters and runs the handler. @throws Interruption, and nothing else */
export function runMethod(method: Method, params: unknown, context: RpcContext): RpcOutcome | Promise<RpcOutcome> {
  try {
    return runCall(bindCall(method, params), context)
  } catch (error) {
    if (error instanceof Interruption) throw error
    return describeFailure(error, method, context.log)
  }
}

/** Runs a call that another thread bound. Blocks that were resolved there count only while this thread's chain has them.
 *  @throws Interruption, and nothing else */
export function runCallMessage(
  methods: MethodTable,
  message: CallMessage,
  context: RpcContext,
): RpcOutcome | Promise<RpcOutcome> {
  const method = methods.get(message.method)
  if (method === undefined) return { error: methodNotFound(message.method) }
  const call = new BoundCall(method, message.values ?? [], message.args)
  const { blocks } = message
  if (blocks === undefined || !isCanonical(context.chain, blocks)) return runCall(call, context)
  return runCall(call, { ...context, blocks })
}

/** Runs the handler and encodes its result. An unknown error is logged with a request id and answered as
 *  `internal error`. @throws Interruption, and nothing else */
export function runCall(call: BoundCall, context: RpcContext): RpcOutcome | Promise<RpcOutcome> {
  const { method } = call
  try {
    const result = method.handler(context, ...call.args())
    if (!isPromise(result)) return { result: encodeResult(result) }
    return result.then(
      (value) => ({ result: encodeResult(value) }),
      (error: unknown) => describeFailure(error, method, context.log),
    )
  } catch (error) {
    if (error instanceof Interruption) throw error
    return describeFailure(error, method, context.log)
  }
}

/** The error of an answer for anything that a method threw. */
function describeFailure(error: unknown, method: Method, log: Logger): RpcOutcome {
  if (error instanceof DeadlineExceeded && method.cost === 'evm') return { error: timeoutError('evm', error.limitMs) }
  const known = translateError(error instanceof InvalidValue ? invalidParams(error.message) : error)
  if (known !== undefined) return { error: known }
  log.error({ requestId: randomUUID(), method: method.name, error: describeError(error) }, 'request failed')
  return { error: { code: INTERNAL_ERROR, message: 'internal error' } }
}

/** The error of a request that took too long: the contract's words for a log query, geth's for a call. */
export function timeoutError(cost: CostClass, limitMs: number): RpcErrorBody {
  if (cost !== 'evm') return { code: LIMIT_EXCEEDED, message: QUERY_TIMEOUT }
  return { code: SERVER_ERROR, message: `execution aborted (timeout = ${limitMs / 1000}s)` }
}

/** What is answered to a name that is not in the table. */
export function methodNotFound(name: string): RpcErrorBody {
  return { code: METHOD_NOT_FOUND, message: `the method ${abbreviate(name)} does not exist/is not available` }
}

function encodeResult(result: unknown): Uint8Array {
  return result instanceof JsonBytes ? result.bytes : Buffer.from(JSON.stringify(result ?? null))
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Promise<unknown>).then === 'function'
}
