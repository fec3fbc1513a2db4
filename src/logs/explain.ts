import { type Deadline, DeadlineExceeded } from '../lib/deadline.js'
import type { Database } from '../store/database.js'
import { createBlockOfLog } from '../store/logs/blockOfLog.js'
import { arrayBytesOf, type LogTexts } from '../store/logs/logText.js'
import { adviseOn } from './advice.js'
import { type LogFilter, normalizeFilter } from './filter.js'
import type { LogQueryOptions } from './planner.js'
import { createLogTrace, type LogFacts, type LogTrace } from './trace.js'
import { countValues, type ValueCounts } from './valueCounts.js'

/** What bounds a query that is explained. */
export type LogExplainOptions = Omit<LogQueryOptions, 'trace'>

/** What a query did, why, and what its asker may do better. */
export interface LogExplanation {
  facts: LogFacts
  /** Length of the answer, a JSON array; undefined when there is none. */
  answerBytes?: number
  /** First and last block that logs of each segment are in, in the order of `facts.segments`. */
  segmentBlocks: { first: number; last: number }[]
  /** How often the values are in the segments that were looked into; undefined when there was no time left for it. */
  values?: ValueCounts[]
  /** Sentences, the weightiest first. */
  advice: string[]
}

/** Runs a query for its facts. */
export type LogExplainer = (filter: LogFilter, options: LogExplainOptions) => LogExplanation

/** An explainer of what `answer` does on the connection, all in one snapshot. A refusal, a timeout and a range that is
 *  not held are outcomes with the facts until then. @throws TooManyTopics */
export function createLogExplainer(
  db: Database,
  answer: (filter: LogFilter, options: LogQueryOptions) => LogTexts,
): LogExplainer {
  const blockOfLog = createBlockOfLog(db)
  const explain = (filter: LogFilter, options: LogExplainOptions): LogExplanation => {
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
  const snapshot = db.transaction(explain)
  return (filter, options) => snapshot(normalizeFilter(filter), options)
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
