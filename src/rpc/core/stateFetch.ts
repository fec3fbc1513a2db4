import { messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import type { RpcCall, RpcOutcome } from './envelope.js'
import { type RpcErrorBody, SERVER_ERROR, type UnknownState } from './errors.js'
import type { MethodTable } from './method.js'

/** What one fetch of a call may take, and what else to fetch. */
export interface StateFetchBounds {
  /** Accounts and slots. */
  readonly maxKeys: number
  readonly timeoutMs: number
  /** A call that needs the state, with members as of `eth_call`: a hint. */
  readonly call?: unknown
  /** The client that called: the id of an API key, or a connection. */
  readonly client?: number | object
}

/** Fetches state that is not known, from an upstream. */
export interface UnknownStateFetcher {
  /** Resolves when the state is stored, with the number of accounts and slots that were asked for: those of `unknown`,
   *  and what the hint added. @throws an Error with the reason why it cannot be fetched */
  fetch(unknown: UnknownState, bounds: StateFetchBounds): Promise<number>
}

/** Bounds of the state that one call may fetch. */
export interface StateFetchLimits {
  /** Accounts and slots. */
  readonly keys: number
  /** Time in milliseconds. */
  readonly ms: number
}

/** Default bounds. */
export const STATE_FETCH_LIMITS: StateFetchLimits = { keys: 1_000, ms: 10_000 }

// An equal call that began before the value was stored may still run: its outcome is shared.
const MAX_TIMES = 5

/** Repeats a call whose outcome is that state is not known, each time after the missing value was fetched and stored,
 *  until it has another outcome or a bound is reached. */
export async function fetchAndRepeat(
  first: RpcOutcome,
  { method, params }: RpcCall,
  run: () => RpcOutcome | Promise<RpcOutcome>,
  {
    fetcher,
    methods,
    client,
    limits = STATE_FETCH_LIMITS,
  }: {
    fetcher: UnknownStateFetcher
    methods: MethodTable
    client?: number | object
    limits?: StateFetchLimits
  },
): Promise<RpcOutcome> {
  const endMs = performance.now() + limits.ms
  const fetched = new Map<string, number>()
  const hint = methods.get(method)?.takesCall && Array.isArray(params) ? params[0] : undefined
  let outcome = first
  let count = 0
  for (let isFirst = true; ; isFirst = false) {
    const missing = 'error' in outcome ? outcome.error.missing : undefined
    if (missing === undefined) return outcome
    const fail = (reason: string) => ({ error: stateUnknownError(missing, reason) })
    const lost = whyLost(missing)
    if (lost !== undefined) return fail(lost)
    const maxKeys = limits.keys - count
    if (missing.keys.reduce((sum, { slots }) => sum + Math.max(1, slots.length), 0) > maxKeys)
      return fail(`the call needs more than ${limits.keys} accounts and slots that are not known`)
    const timeoutMs = endMs - performance.now()
    if (timeoutMs <= 0) return fail(`fetching what the call needs took longer than ${limits.ms / 1000} s`)
    const key = JSON.stringify(missing, (_, value) => (value instanceof Uint8Array ? formatData(value) : value))
    const times = fetched.get(key) ?? 0
    if (times === MAX_TIMES) return fail('it was fetched and is not known all the same')
    fetched.set(key, times + 1)
    try {
      count += await fetcher.fetch(missing, { maxKeys, timeoutMs, client, call: isFirst ? hint : undefined })
    } catch (error) {
      return fail(messageOf(error))
    }
    await yieldToEventLoop() // the snapshot of this turn may be older
    outcome = await run()
  }
}

/** Why state that is not known cannot be fetched from any upstream; undefined if it may be. */
export function whyLost({ changedAt }: UnknownState): string | undefined {
  return changedAt === undefined ? undefined : `block ${changedAt} may have changed it, and it was not known before`
}

/** The error of a call that needs state which is not known. */
export function stateUnknownError(
  { keys: [{ address, slots }], isProof, blockNumber }: UnknownState,
  reason: string,
): RpcErrorBody {
  const slot = slots.length === 0 ? '' : `, slot ${formatData(slots[0])},`
  const place = `${slot}${blockNumber === undefined ? '' : ` at block ${blockNumber}`}`
  const what = isProof ? 'the trie node' : 'state'
  return { code: SERVER_ERROR, message: `${what} of ${formatData(address)}${place} is not known: ${reason}` }
}
