import { keyOfBytes } from '../../lib/bytes.js'
import { Interruption } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { CommitWatch } from '../../store/commitWatch.js'
import { LongBody } from '../../store/rows/shortBodies.js'
import type { ChainReader } from '../../store/rows/types.js'
import { isCanonical } from './blockId.js'
import { BoundCall, bindCall } from './boundCall.js'
import type { RpcContext } from './context.js'
import type { RpcCall, RpcOutcome } from './envelope.js'
import { type RpcErrorBody, translateError } from './errors.js'
import type { MethodTable } from './method.js'
import type { CacheableCall, ResponseCache } from './responseCache.js'
import { callRunner, failedOutcome, methodNotFound, runCall } from './runCall.js'
import type { Session } from './session.js'
import { isShort } from './shortValue.js'
import { fetchAndRepeat, type UnknownStateFetcher } from './stateFetch.js'
import { createTimeBudget, type TimeBudget } from './timeBudget.js'

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
  /** Fetches state that is not known: sparse state. Absent: such calls fail. */
  stateFetcher?: UnknownStateFetcher
}): Dispatcher {
  const { methods, context, remote, log, cache, inline, stateFetcher, served = { count: 0 } } = options
  const { withSnapshot = (work) => work(), shortBodies = context.chain } = options
  const short: RpcContext = { ...context, chain: shortBodies }
  const runPoint = (call: BoundCall, client: ClientId | undefined) => {
    try {
      return withSnapshot(callRunner(call, short))
    } catch (error) {
      if (!(error instanceof LongBody)) throw error
      const costKey = error.sizeBytes > MAX_QUICK_BYTES ? undefined : call.method.name
      return remote.run(call, { client, costKey })
    }
  }
  const dispatchOnce: Dispatcher['dispatch'] = ({ method: name, params }, client, openSession) => {
    const method = methods.get(name)
    if (method === undefined) return { error: methodNotFound(name) }
    const own = method.usesSession ? { ...context, session: openSession?.() } : context
    let call: BoundCall
    try {
      call = bindCall(method, params)
      if (method.prepareArgs) call = new BoundCall(method, [], method.prepareArgs(own, ...call.args()))
    } catch (error) {
      return failedOutcome(error, method, log)
    }
    // A rerun would repeat what a handler did to its session.
    if (method.cost === 'point' && method.usesSession) return runCall(call, own)
    if (method.cost === 'point') return method.runsOnce ? withSnapshot(callRunner(call, own)) : runPoint(call, client)
    const run = (sinceMs?: number) => remote.run(call, { client, sinceMs })
    const runsInline = method.cost === 'evm' && method.costKey !== undefined
    const runInline = inline && runsInline ? () => inline.run(call) : undefined
    const runCached = () => {
      const cached = cache && lookUp(call, context, { run, runInline, withSnapshot })
      if (cached === undefined) return runInline?.() ?? run()
      return 'error' in cached ? cached : cache!.answer(cached)
    }
    return withSnapshot(runCached)
  }
  const dispatch: Dispatcher['dispatch'] = (call, client, openSession) => {
    served.count++
    const run = () => dispatchOnce(call, client, openSession)
    const outcome = run()
    if (stateFetcher === undefined) return outcome
    const completed = (first: RpcOutcome) =>
      isStateMissing(first) ? fetchAndRepeat(first, call, run, { fetcher: stateFetcher, methods, client }) : first
    return outcome instanceof Promise ? outcome.then(completed) : completed(outcome)
  }
  return { timeBudget: createTimeBudget(), dispatch }
}

function isStateMissing(outcome: RpcOutcome): boolean {
  return 'error' in outcome && outcome.error.missing !== undefined
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
      lasts: (outcome) =>
        'result' in outcome ||
        (outcome.error.missing === undefined && caching.keepsError?.(outcome.error, context) === true),
      ...runs,
    }
  } catch (error) {
    if (error instanceof Interruption) throw error
    const known = translateError(error, name)
    return known && { error: known } // other errors are found and logged by the thread that runs the call
  }
}
