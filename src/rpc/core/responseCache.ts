import { createByteLru } from '../../lib/byteLru.js'
import { type Metrics, registerCacheMetrics } from '../../lib/metrics.js'
import type { RpcOutcome } from './envelope.js'

/** An entry of a two-byte result took 1.0 kB of resident memory, its key of 56 characters included (measured with 100,000
 *  entries): the map, two objects, and a buffer that came from another thread. */
const ENTRY_BYTES = 1_000

/** One outcome takes at most this share of the bound, so that a few large ones do not push out all others. */
const MAX_SHARE = 1 / 8

/** A call whose outcome may be given again. */
export interface CacheableCall {
  /** Names the outcome: calls of equal keys have the same one. */
  readonly key: string
  /** False once a reorg has replaced the blocks that the key names. */
  isCurrent(): boolean
  /** Whether the outcome is one that another run would give too, and no accident of this one. */
  lasts(outcome: RpcOutcome): boolean
  /** Makes the outcome, counting its time from `sinceMs` of `performance.now()`, from now when absent. */
  run(sinceMs?: number): Promise<RpcOutcome>
  /** Makes the outcome on the spot; undefined when it is to be made by `run`. */
  runInline?(): RpcOutcome | undefined
}

/** Recent outcomes of calls, and the calls of which they are being made. */
export interface ResponseCache {
  /** The outcome: at once when it is held, else from a run. Equal calls at the same time are one run. */
  answer(call: CacheableCall): RpcOutcome | Promise<RpcOutcome>
}

/** A cache of outcomes, the least recently asked of which go when all take more than `maxBytes`. The bytes of an outcome
 *  are shared by all who ask for it: nobody may write to them. A call that waited for an equal one is a hit. */
export function createResponseCache({ maxBytes, metrics }: { maxBytes: number; metrics: Metrics }): ResponseCache {
  const kept = createByteLru<RpcOutcome>({
    maxBytes,
    sizeOf: (key, outcome) => ENTRY_BYTES + key.length + sizeOf(outcome),
  })
  const underWay = new Map<string, Promise<Flight>>()
  let hits = 0
  let misses = 0
  registerCacheMetrics(metrics, 'responses', {
    maxBytes,
    bytes: kept.bytes,
    entries: kept.size,
    hits: () => hits,
    misses: () => misses,
  })

  const settle = (call: CacheableCall, outcome: RpcOutcome): Flight => {
    // The thread may have seen another chain than the one that the key names.
    const lasting = call.lasts(outcome) && call.isCurrent()
    if (lasting && sizeOf(outcome) <= maxBytes * MAX_SHARE) kept.set(call.key, ownBytes(outcome))
    return { outcome, lasting }
  }
  const fly = async (call: CacheableCall, sinceMs?: number): Promise<Flight> => {
    return settle(call, await call.run(sinceMs))
  }
  const lead = async (call: CacheableCall, sinceMs?: number): Promise<RpcOutcome> => {
    misses++
    const flight = fly(call, sinceMs)
    underWay.set(call.key, flight)
    try {
      return (await flight).outcome
    } finally {
      if (underWay.get(call.key) === flight) underWay.delete(call.key)
    }
  }
  /** Waits for an equal call. What is only that one's, a timeout or an answer about another chain, is not shared: then the
   *  call is run by itself, in the time that is left of its own. */
  const join = async (call: CacheableCall, flight: Promise<Flight>): Promise<RpcOutcome> => {
    const sinceMs = performance.now()
    const { outcome, lasting } = await flight
    if (!lasting) return lead(call, sinceMs)
    hits++
    return outcome
  }

  return {
    answer(call) {
      const known = kept.get(call.key)
      if (known !== undefined) {
        hits++
        return known
      }
      const flight = underWay.get(call.key)
      if (flight !== undefined) return join(call, flight)
      const outcome = call.runInline?.()
      if (outcome === undefined) return lead(call)
      misses++
      return settle(call, outcome).outcome
    },
  }
}

/** A run that is under way: its outcome, and whether that is everybody's. */
interface Flight {
  readonly outcome: RpcOutcome
  readonly lasting: boolean
}

/** The outcome, its result in a buffer of just its size, so that no larger one is kept from being freed. */
function ownBytes(outcome: RpcOutcome): RpcOutcome {
  if ('error' in outcome || outcome.result.byteLength === outcome.result.buffer.byteLength) return outcome
  return { result: new Uint8Array(outcome.result) }
}

function sizeOf(outcome: RpcOutcome): number {
  if ('result' in outcome) return outcome.result.byteLength
  const { message, data, dataJson } = outcome.error
  return message.length + (typeof data === 'string' ? data.length : 0) + (dataJson?.byteLength ?? 0)
}
