import { adviseOn } from '../../index/logs/advice.js'
import { createLogTrace, type LogTrace } from '../../index/logs/trace.js'
import { Interruption } from '../../lib/errors.js'
import { formatFacts } from '../cairn/formatFacts.js'
import type { RpcContext } from './context.js'

// Keeps a log line readable and below 10 KB: the index of a chain with 100 million logs has about 40 segments.
const SEGMENTS_SHOWN = 20

/** Runs a log query. If it takes at least `limits.slowLogsMs`, logs it with its trace, even if it fails; 0 disables
 *  logging and tracing. */
export function logWhenSlow<T>(
  context: Pick<RpcContext, 'limits' | 'waitedMs' | 'log'>,
  method: string,
  query: (trace: LogTrace | undefined) => { value: T; results: number; outcome: 'answered' | 'page' },
): T {
  const { limits, waitedMs, log } = context
  if (!(limits.slowLogsMs > 0)) return query(undefined).value
  const started = performance.now()
  const trace = createLogTrace()
  let interrupted = false // it will be run again
  try {
    const { value, results, outcome } = query(trace)
    trace.end({ results, outcome })
    return value
  } catch (error) {
    trace.end({ error })
    interrupted = error instanceof Interruption
    throw error
  } finally {
    if (!interrupted && performance.now() - started >= limits.slowLogsMs) {
      log.warn({ method, waitedMs: Math.round(waitedMs), ...describe(trace) }, 'slow log query')
    }
  }
}

function describe({ facts }: LogTrace) {
  const json = formatFacts(facts)
  const slowest = json.segments.toSorted((a, b) => b.ms - a.ms).slice(0, SEGMENTS_SHOWN)
  const segments = json.segments.filter((segment) => slowest.includes(segment))
  return { ...json, segments, segmentsLeftOut: json.segments.length - segments.length, advice: adviseOn(facts) }
}
