import { createByteLru } from '../../lib/byteLru.js'
import { fillsBuffer } from '../../lib/bytes.js'
import { type Metrics, registerCacheMetrics } from '../../lib/metrics.js'
import type { RpcOutcome } from './envelope.js'

/** An entry with a two-byte result took 1.0 kB of resident memory, including its key of 56 characters (measured with
 *  100,000 entries): map, two objects, and a buffer from another thread. */
const ENTRY_BYTES = 1_000

/** Largest share of the bound for one outcome, so that a few large ones do not evict all others. */
const MAX_SHARE = 1 / 8

/** A call whose outcome may be cached. */
export interface CacheableCall {
  /** Identifies the outcome: calls with equal keys have the same one. */
  readonly key: string
  /** False once a reorg has replaced the blocks of the key. */
  isCurrent(): boolean
  /** True if another run would give the same outcome. */
  lasts(outcome: RpcOutcome): boolean
  /** Runs the call; its time counts from `sinceMs` of `performance.now()`, by default from now. */
  run(sinceMs?: number): Promise<RpcOutcome>
  /** Runs the call synchronously; undefined if `run` must. */
  runInline?(): RpcOutcome | undefined
}

/** Recent outcomes, and calls in progress. */
export interface ResponseCache {
  /** The outcome: synchronous if cached, else from a run. Equal concurrent calls share one run. */
  answer(call: CacheableCall): RpcOutcome | Promise<RpcOutcome>
  /** Drops large outcomes. They are scattered over the memory of reader threads, so that little of it is returned to
   *  the system while they are kept: 64 MB of outcomes kept 230 MB. */
  dropLarge(): void
}

/** Results of calls are smaller, those of wide log queries larger. */
const LARGE_BYTES = 4_096

/** Caches outcomes up to `maxBytes` in total and evicts the least recently requested. All requesters share the bytes of
 *  an outcome and must not write to them. A call that waited for an equal one is a hit. */
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
    // The thread may have seen another chain than the one in the key.
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
  /** Waits for an equal call. An outcome that is valid for that call only, such as a timeout or a result from another
   *  chain, is not shared: the call then runs itself in its remaining time. */
  const join = async (call: CacheableCall, flight: Promise<Flight>): Promise<RpcOutcome> => {
    const sinceMs = performance.now()
    const { outcome, lasting } = await flight
    if (!lasting) return lead(call, sinceMs)
    hits++
    return outcome
  }

  return {
    dropLarge: () => kept.deleteWhere((outcome) => sizeOf(outcome) > LARGE_BYTES),
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

/** A run in progress: its outcome, and whether it can be shared. */
interface Flight {
  readonly outcome: RpcOutcome
  readonly lasting: boolean
}

/** The outcome with its result in a buffer that is at most an eighth larger, so that it keeps little else alive. */
function ownBytes(outcome: RpcOutcome): RpcOutcome {
  if ('error' in outcome || fillsBuffer(outcome.result)) return outcome
  return { result: new Uint8Array(outcome.result) }
}

function sizeOf(outcome: RpcOutcome): number {
  if ('result' in outcome) return outcome.result.byteLength
  const { message, data, dataJson } = outcome.error
  return message.length + (typeof data === 'string' ? data.length : 0) + (dataJson?.byteLength ?? 0)
}
