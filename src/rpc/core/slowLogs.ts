import { adviseOn } from '../../logs/advice.js'
import { createLogTrace, type LogTrace } from '../../logs/trace.js'
import { formatFacts } from '../cairn/formatFacts.js'
import type { RpcContext } from './context.js'

// A line of the log stays readable, and below 10 KB: the index of a chain of 100 million logs has about 40 segments.
const SEGMENTS_SHOWN = 20

/** Runs a log query and gives what it gives. One that takes at least `limits.slowLogsMs`, failed or not, is logged with what
 *  it did; 0 switches that off, and the query gets no trace. */
export function logWhenSlow<T>(
  context: Pick<RpcContext, 'limits' | 'waitedMs' | 'log'>,
  method: string,
  query: (trace: LogTrace | undefined) => { value: T; results: number; outcome: 'answered' | 'page' },
): T {
  const { limits, waitedMs, log } = context
  if (!(limits.slowLogsMs > 0)) return query(undefined).value
  const started = performance.now()
  const trace = createLogTrace()
  try {
    const { value, results, outcome } = query(trace)
    trace.end({ results, outcome })
    return value
  } catch (error) {
    trace.end({ error })
    throw error
  } finally {
    if (performance.now() - started >= limits.slowLogsMs) {
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
