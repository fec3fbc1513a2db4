import { randomUUID } from 'node:crypto'
import { EvmPending } from '../../evm/calls/evmPending.js'
import { DeadlineExceeded } from '../../lib/deadline.js'
import { describeError, Interruption } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import { MissingState } from '../../store/state/missingState.js'
import { LATEST } from '../../store/state/stateReader.js'
import { MissingTrieNodes } from '../../trie/missingNodes.js'
import { findSiblingKeys } from '../../trie/siblingKeys.js'
import { isCanonical } from './blockId.js'
import { BoundCall, bindCall, type CallMessage } from './boundCall.js'
import type { RpcContext } from './context.js'
import type { RpcOutcome } from './envelope.js'
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
  type UnknownState,
} from './errors.js'
import { JsonBytes, type Method, type MethodTable } from './method.js'
import { stateUnknownError, whyLost } from './stateFetch.js'
import { reasonOfAbsence } from './unavailableMethods.js'

// Replaced by the outcome of fetching it, where that is possible.
const NEVER_NEEDED = 'it was never needed before, and this server follows no --upstream from which it could be fetched'

/** Binds and decodes the parameters and runs the handler. @throws Interruption, and nothing else */
export function runMethod(method: Method, params: unknown, context: RpcContext): RpcOutcome | Promise<RpcOutcome> {
  try {
    return runCall(bindCall(method, params), context)
  } catch (error) {
    return failedOutcome(error, method, context.log)
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

/** Runs the handler, again if it needed an outcome of the EVM that is not available yet, and encodes its result. An
 *  unknown error is logged with a request id and becomes `internal error`.
 *  @throws Interruption, and nothing else */
export function runCall(call: BoundCall, context: RpcContext): RpcOutcome | Promise<RpcOutcome> {
  const { method } = call
  const describe = (error: unknown) => failedOutcome(error, method, context.log)
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

/** Returns `runCall` as work for a snapshot. */
export function callRunner(call: BoundCall, context: RpcContext): () => RpcOutcome | Promise<RpcOutcome> {
  return () => runCall(call, context)
}

/** The error body for anything that a method threw. @throws Interruption, which the caller of the method handles */
export function failedOutcome(error: unknown, method: Method, log: Logger): RpcOutcome {
  const unknown = unknownState(error)
  if (unknown) return { error: { ...stateUnknownError(unknown, whyLost(unknown) ?? NEVER_NEEDED), missing: unknown } }
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

/** Returns what a call needs and is not known, with sparse state: who dispatched the call may fetch it, and repeat the
 *  call. Undefined for another error. */
function unknownState(error: unknown): UnknownState | undefined {
  if (error instanceof MissingState) {
    const { address, slot, blockNumber, changedAt } = error
    const keys = [{ address, slots: slot === undefined ? [] : [slot] }]
    return { keys, isProof: false, blockNumber: blockNumber === LATEST ? undefined : blockNumber, changedAt }
  }
  if (!(error instanceof MissingTrieNodes)) return undefined
  const keys = error.before.length > 0 ? error.before : findSiblingKeys(error.siblings)
  return keys === undefined || keys.length === 0 ? undefined : { keys, isProof: true }
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
