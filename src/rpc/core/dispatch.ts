import { randomUUID } from 'node:crypto'
import { EvmPending } from '../../evm/calls/evmPending.js'
import { keyOfBytes } from '../../lib/bytes.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { describeError, Interruption } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import { LongBody } from '../../store/rows/shortBodies.js'
import type { ChainReader } from '../../store/rows/types.js'
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
import { JsonBytes, type Method } from './method.js'
import type { CacheableCall, ResponseCache } from './responseCache.js'
import type { Session } from './session.js'
import { createTimeBudget, type TimeBudget } from './timeBudget.js'
import { reasonOfAbsence } from './unavailableMethods.js'

/** All methods by name. */
export type MethodTable = ReadonlyMap<string, Method>

/** Identifies a client for fair scheduling: the id of an API key, or a connection. */
export type ClientId = number | object

/** The client of a call and when it started waiting. */
export interface CallOrigin {
  /** Calls without a client share one. */
  readonly client?: ClientId
  /** By `performance.now()`: time since then counts against the call's limit, because the call waited for an equal one.
   *  Absent for a new call: its time starts when a thread starts it. */
  readonly sinceMs?: number
  /** Replaces the `costKey` of the method. */
  readonly costKey?: string
}

/** Runs `scan` and `evm` methods. Never rejects: failures are error outcomes. */
export interface RemoteRunner {
  run(call: BoundCall, origin?: CallOrigin): Promise<RpcOutcome>
}

/** Runs small calls of `evm` methods synchronously. */
export interface InlineRunner {
  /** The outcome; undefined if a thread must run the call. */
  run(call: BoundCall): RpcOutcome | undefined
}

/** Runs work that must see one snapshot of the database; reruns it once if the chain changed before its first read. */
export type WithSnapshot = CommitWatch['withSnapshot']

/** Calls with more parameter text are not looked up in the cache, because decoding them blocks the main thread. Enough
 *  for 5,000 filter values, which take 5 ms; 5 MB of them took 70. */
const MAX_KEYED_CHARACTERS = 500_000

/** Estimated JSON of the parts of a block that a call may read on the main thread: reading and formatting 1.5 MB of
 *  receipts takes 30 ms at rest and 60 on a busy machine. */
export const MAX_MAIN_THREAD_BYTES = 262_144

/** Longer parts are not read in the quick queue: they would occupy it for more than about ten milliseconds. */
const MAX_QUICK_BYTES = 2_000_000

/** Returns the session of a call. */
export type OpenSession = () => Session

/** Runs calls. */
export interface Dispatcher {
  /** The outcome of a client's call: synchronous for `point` methods that wait for nothing, a promise for others. Never
   *  throws. */
  dispatch(call: RpcCall, client?: ClientId, openSession?: OpenSession): RpcOutcome | Promise<RpcOutcome>
  /** Main-thread time that its batches share; without it, each batch runs as if alone. */
  readonly timeBudget?: TimeBudget
  /** Called for each invalid item with its error. */
  onInvalid?(error: RpcErrorBody): void
}

/** Returns a dispatcher for one client. An error returned by `refusal` becomes the outcome of the call. `observe` is
 *  called with every outcome. */
export function dispatchFor(
  dispatcher: Dispatcher,
  {
    client,
    openSession,
    refusal,
    observe,
  }: { client: ClientId; openSession: OpenSession; refusal?: Refusal; observe?: ObserveCall },
): Dispatcher {
  const { timeBudget, onInvalid } = dispatcher
  const dispatch = (call: RpcCall) => dispatcher.dispatch(call, client, openSession)
  if (refusal === undefined && observe === undefined) return { timeBudget, onInvalid, dispatch }
  return {
    timeBudget,
    onInvalid,
    dispatch(call) {
      const begunMs = observe === undefined ? 0 : performance.now()
      const error = refusal?.(call)
      const outcome = error === undefined ? dispatch(call) : { error }
      if (observe === undefined) return outcome
      return outcome instanceof Promise
        ? outcome.then((later) => observe(call, later, begunMs))
        : observe(call, outcome, begunMs)
    },
  }
}

/** Returns the error of a refused call; undefined if it may run. */
type Refusal = (call: RpcCall) => RpcErrorBody | undefined

/** Called with the outcome of a call that began at `begunMs` (`performance.now()`). @returns the outcome to use */
export type ObserveCall = (call: RpcCall, outcome: RpcOutcome, begunMs: number) => RpcOutcome

/** A dispatcher that runs `point` methods with `context` on the main thread and everything else through `remote`,
 *  unless `cache` has the outcome or `inline` runs it. `point` methods that read more of a block than `shortBodies`
 *  allows also run through `remote`. */
export function createDispatcher(options: {
  methods: MethodTable
  context: RpcContext
  remote: RemoteRunner
  log: Logger
  cache?: ResponseCache
  inline?: InlineRunner
  /** Uses the connection of `context`. Absent: every read sees the newest commit. */
  withSnapshot?: WithSnapshot
  /** The block reader for `point` methods. Default: that of `context`. */
  shortBodies?: ChainReader
  /** Counts every call. */
  served?: { count: number }
}): Dispatcher {
  const { methods, context, remote, log, cache, inline, served = { count: 0 } } = options
  const { withSnapshot = (work) => work(), shortBodies = context.chain } = options
  const short: RpcContext = { ...context, chain: shortBodies }
  const runPoint = (call: BoundCall, client: ClientId | undefined) => {
    try {
      return withSnapshot(() => runCall(call, short))
    } catch (error) {
      if (!(error instanceof LongBody)) throw error
      const costKey = error.sizeBytes > MAX_QUICK_BYTES ? undefined : call.method.name
      return remote.run(call, { client, costKey })
    }
  }
  return {
    timeBudget: createTimeBudget(),
    dispatch({ method: name, params }, client, openSession) {
      served.count++
      const method = methods.get(name)
      if (method === undefined) return { error: methodNotFound(name) }
      const own = method.usesSession ? { ...context, session: openSession?.() } : context
      let call: BoundCall
      try {
        call = bindCall(method, params)
        if (method.prepareArgs) call = new BoundCall(method, [], method.prepareArgs(own, ...call.args()))
      } catch (error) {
        return describeFailure(error, method, log)
      }
      // A rerun would repeat what a handler did to its session.
      if (method.cost === 'point' && method.usesSession) return runCall(call, own)
      if (method.cost === 'point')
        return method.runsOnce ? withSnapshot(() => runCall(call, own)) : runPoint(call, client)
      const run = (sinceMs?: number) => remote.run(call, { client, sinceMs })
      const runsInline = method.cost === 'evm' && method.costKey !== undefined
      const runInline = inline && runsInline ? () => inline.run(call) : undefined
      const answer = () => {
        const cached = cache && lookUp(call, context, { run, runInline, withSnapshot })
        if (cached === undefined) return runInline?.() ?? run()
        return 'error' in cached ? cached : cache!.answer(cached)
      }
      return withSnapshot(answer)
    },
  }
}

/** Returns the call as a cache request; undefined if its outcome is not cacheable. An error if its parameters or blocks
 *  are invalid. */
function lookUp(
  call: BoundCall,
  context: RpcContext,
  { withSnapshot, ...runs }: Pick<CacheableCall, 'run' | 'runInline'> & { withSnapshot: WithSnapshot },
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
      // A thread may have begun after this event-loop turn.
      isCurrent: () => withSnapshot(() => isCanonical(context.chain, blocks), { isNewest: true }),
      lasts: (outcome) => 'result' in outcome || caching.keepsError?.(outcome.error, context) === true,
      ...runs,
    }
  } catch (error) {
    if (error instanceof Interruption) throw error
    const known = translateError(error, name)
    return known && { error: known } // other errors are found and logged by the thread that runs the call
  }
}

/** True if the text in a JSON value, at least one character per member, has at most `limit` characters. */
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
    return describeFailure(error, method, context.log)
  }
}

/** Runs a call that another thread bound. Blocks resolved there are used only if this thread's chain has them. @throws
 *  Interruption, and nothing else */
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

/** Runs the handler, again if it needed an outcome of the EVM that is not available yet, and encodes its result. An unknown error is logged with a request id and becomes `internal error`.
 *  @throws Interruption, and nothing else */
export function runCall(call: BoundCall, context: RpcContext): RpcOutcome | Promise<RpcOutcome> {
  const { method } = call
  const describe = (error: unknown) => describeFailure(error, method, context.log)
  const fail = (error: unknown) =>
    error instanceof EvmPending
      ? error.service.then((evm) => runCall(call, { ...context, evm }), describe)
      : describe(error)
  try {
    const result = method.handler(context, ...call.args())
    if (!isPromise(result)) return { result: encodeResult(result) }
    return result.then((value) => ({ result: encodeResult(value) }), fail)
  } catch (error) {
    return fail(error)
  }
}

/** The error body for anything that a method threw. @throws Interruption, which the caller of the method handles */
function describeFailure(error: unknown, method: Method, log: Logger): RpcOutcome {
  if (error instanceof Interruption) throw error
  if (error instanceof DeadlineExceeded && method.cost === 'evm')
    return { error: callTimeoutError(error.limitMs, method) }
  const known = translateError(error instanceof InvalidValue ? invalidParams(error.message) : error, method.name)
  if (known !== undefined) return { error: known }
  log.error({ requestId: randomUUID(), method: method.name, error: describeError(error) }, 'request failed')
  return { error: { code: INTERNAL_ERROR, message: 'internal error' } }
}

/** The error of a log query that exceeded its time limit (API specification). */
export const QUERY_TIMEOUT_ERROR: RpcErrorBody = { code: LIMIT_EXCEEDED, message: QUERY_TIMEOUT }

/** The error of a call that exceeded its time limit, in geth's words unless the method has its own. */
export function callTimeoutError(limitMs: number, method?: Pick<Method, 'timeoutMessage'>): RpcErrorBody {
  const message = method?.timeoutMessage?.(limitMs) ?? `execution aborted (timeout = ${limitMs / 1000}s)`
  return { code: SERVER_ERROR, message }
}

/** The error for a name that is not in the table. */
export function methodNotFound(name: string): RpcErrorBody {
  const reason = reasonOfAbsence(name)
  const message = `the method ${abbreviate(name)} does not exist/is not available`
  return { code: METHOD_NOT_FOUND, message: reason === undefined ? message : `${message}: ${reason}` }
}

function encodeResult(result: unknown): Uint8Array {
  return result instanceof JsonBytes ? result.bytes : Buffer.from(JSON.stringify(result ?? null))
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Promise<unknown>).then === 'function'
}
