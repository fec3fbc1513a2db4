import type { ClientId, Dispatcher, OpenSession } from './dispatch.js'
import type { RpcCall, RpcOutcome } from './envelope.js'
import type { RpcErrorBody } from './errors.js'

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
