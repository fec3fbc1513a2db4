import { randomUUID } from 'node:crypto'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { describeError, Interruption } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
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
  run(cost: Exclude<CostClass, 'point'>, method: string, params: unknown, origin?: CallOrigin): Promise<RpcOutcome>
}

/** Where small calls of `evm` methods run: on the spot. */
export interface InlineRunner {
  /** The outcome; undefined for a call that a thread is to run. */
  run(method: Method, params: unknown): RpcOutcome | undefined
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
}

/** The dispatcher for the calls of one client. Where `refusal` gives an error, that is the outcome of the call. */
export function dispatchFor(
  dispatcher: Dispatcher,
  client: ClientId,
  refusal?: () => RpcErrorBody | undefined,
): Dispatcher {
  const { slices } = dispatcher
  if (refusal === undefined) return { slices, dispatch: (call) => dispatcher.dispatch(call, client) }
  return {
    slices,
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
    dispatch(call, client) {
      const method = methods.get(call.method)
      if (method === undefined) return { error: methodNotFound(call.method) }
      try {
        bindParams(method, call.params)
      } catch (error) {
        return describeFailure(error, method, log)
      }
      const { cost } = method
      if (cost === 'point') return runMethod(method, call.params, context)
      const run = (sinceMs?: number) => remote.run(cost, call.method, call.params, { client, sinceMs })
      const runInline = inline && method.costKey && (() => inline.run(method, call.params))
      const answer = () => {
        const cacheable = cache && describeCacheable(method, call.params, context, { run, runInline })
        return cacheable === undefined ? (runInline?.() ?? run()) : cache!.answer(cacheable)
      }
      return runInline === undefined ? answer() : inline!.withSnapshot(answer)
    },
  }
}

/** The call as the cache takes it; undefined when its outcome is not to be kept, or is a refusal that the handler words. */
function describeCacheable(
  method: Method,
  params: unknown,
  context: RpcContext,
  runs: Pick<CacheableCall, 'run' | 'runInline'>,
): CacheableCall | undefined {
  const { caching } = method
  if (caching === undefined || !isShort(params, MAX_KEYED_CHARACTERS)) return undefined
  let name: (() => string | undefined) | undefined
  const keyNow = () => {
    try {
      name ??= caching.keyOfRaw
        ? caching.keyOfRaw(context, bindParams(method, params))
        : caching.keyOf?.(context, ...decodeParams(method, params))
      const key = name?.()
      return key && `${method.name} ${key}`
    } catch (error) {
      if (error instanceof Interruption) throw error
      return undefined // what is wrong is said, or logged, where the method runs
    }
  }
  const key = keyNow()
  if (key === undefined) return undefined
  return {
    key,
    keyNow,
    lasts: (outcome) => 'result' in outcome || caching.keepsError?.(outcome.error, context) === true,
    ...runs,
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

/** Decodes the parameters, runs the handler and encodes what it gives. An error that nobody foresaw is logged with a
 *  request id and answered as `internal error`. @throws Interruption, and nothing else */
export function runMethod(method: Method, params: unknown, context: RpcContext): RpcOutcome | Promise<RpcOutcome> {
  try {
    const result = method.handler(context, ...decodeParams(method, params))
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

/** The parameters in their order, undecoded, from an array or by name; absent ones are undefined.
 *  @throws RpcError -32602 for too many, unknown, or missing ones. */
export function bindParams(method: Method, params: unknown): unknown[] {
  const values = Array.isArray(params) ? params : namedValues(method, params)
  const want = method.params.length
  if (values.length > want) throw invalidParams(`too many arguments, want at most ${want}`)
  for (let i = 0; i < want; i++) {
    if (method.params[i].required && (values[i] === undefined || values[i] === null)) {
      throw invalidParams(`missing value for required argument ${i}`)
    }
  }
  return values
}

function namedValues(method: Method, params: unknown): unknown[] {
  if (params === undefined || params === null) return []
  if (typeof params !== 'object') throw invalidParams('params: expected an array or an object')
  const names = method.params.map((param) => param.name)
  for (const name of Object.keys(params)) {
    if (!names.includes(name)) {
      const wanted = names.length === 0 ? 'the method takes none' : `want ${names.join(', ')}`
      throw invalidParams(`unknown parameter ${JSON.stringify(name.slice(0, 80))}, ${wanted}`)
    }
  }
  return names.map((name) => (Object.hasOwn(params, name) ? (params as Record<string, unknown>)[name] : undefined))
}

function decodeParams(method: Method, params: unknown): unknown[] {
  const values = bindParams(method, params)
  return method.params.map((param, i) => {
    try {
      return param.decode(values[i] ?? undefined, '')
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error
      throw invalidParams(`invalid argument ${i}: ${error.message}`)
    }
  })
}

function encodeResult(result: unknown): Uint8Array {
  return result instanceof JsonBytes ? result.bytes : Buffer.from(JSON.stringify(result ?? null))
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Promise<unknown>).then === 'function'
}
