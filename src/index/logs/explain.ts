import { type Deadline, DeadlineExceeded } from '../../lib/deadline.js'
import type { Database } from '../../store/database.js'
import { createBlockOfLog } from '../../store/rows/blockOfLog.js'
import { adviseOn } from './advice.js'
import { type LogFilter, normalizeFilter } from './filter.js'
import { arrayBytesOf, type LogTexts } from './logText.js'
import type { LogQueryOptions } from './planner.js'
import { createLogTrace, type LogFacts, type LogTrace } from './trace.js'
import { countValues, type ValueCounts } from './valueCounts.js'

/** Limits of a query to explain. */
type LogExplainOptions = Omit<LogQueryOptions, 'trace'>

/** What a query did, why, and how to improve it. */
export interface LogExplanation {
  facts: LogFacts
  /** Length of the result as a JSON array; undefined without a result. */
  answerBytes?: number
  /** First and last block with logs of each segment, in the order of `facts.segments`. */
  segmentBlocks: { first: number; last: number }[]
  /** Counts of the filter's values in the segments that were searched; undefined when time ran out. */
  values?: ValueCounts[]
  /** Sentences, most important first. */
  advice: string[]
}

/** Runs a query and returns its explanation. */
export type LogExplainer = (filter: LogFilter, options: LogExplainOptions) => LogExplanation

/** Explains what `answer` does on the connection, in the caller's snapshot. A refusal, a timeout and a range that is
 *  not stored are outcomes, with the facts collected until then. @throws TooManyTopics */
export function createLogExplainer(
  db: Database,
  answer: (filter: LogFilter, options: LogQueryOptions) => LogTexts,
): LogExplainer {
  const blockOfLog = createBlockOfLog(db)
  return (unnormalized, options) => {
    const filter = normalizeFilter(unnormalized)
    const trace = createLogTrace()
    const answerBytes = runTraced(answer, filter, { ...options, trace })
    const { facts } = trace
    const values = countInTime(db, filter, { facts, deadline: options.deadline })
    const segmentBlocks = facts.segments.map(({ firstLog, logs }) => ({
      first: blockOfLog.numberOf(firstLog)!,
      last: blockOfLog.numberOf(firstLog + logs - 1)!,
    }))
    return { facts, answerBytes, segmentBlocks, values, advice: adviseOn(facts, values) }
  }
}

function runTraced(
  answer: (filter: LogFilter, options: LogQueryOptions) => LogTexts,
  filter: LogFilter,
  options: LogExplainOptions & { trace: LogTrace },
): number | undefined {
  const { trace } = options
  try {
    const logs = answer(filter, options)
    trace.end({ outcome: 'answered', results: logs.count })
    return arrayBytesOf(logs)
  } catch (error) {
    trace.end({ error })
    if (trace.facts.outcome === 'failed') throw error
    return undefined
  }
}

function countInTime(
  db: Database,
  filter: LogFilter,
  { facts, deadline }: { facts: LogFacts; deadline: Deadline },
): ValueCounts[] | undefined {
  const segments = new Set(facts.segments.map(({ id }) => id))
  if (segments.size === 0) return []
  try {
    return countValues(db, filter, { segments, deadline })
  } catch (error) {
    if (error instanceof DeadlineExceeded) return undefined
    throw error
  }
}
