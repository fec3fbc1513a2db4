import { type Deadline, noDeadline } from '../../lib/deadline.js'
import { type CommitWatch, createCommitWatch } from '../../store/commitWatch.js'
import type { Database } from '../../store/database.js'
import { createBlockOfLog, type LogPlace } from '../../store/rows/blockOfLog.js'
import { createLogRanges, type LogRanges } from '../../store/rows/logRanges.js'
import type { LogRecordSource } from '../../store/rows/logRecords.js'
import { createLogRows } from '../../store/rows/logRows.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { LogScanTimeout, LogsUnavailable, TooManyLogs } from './errors.js'
import { createLogExplainer, type LogExplainer } from './explain.js'
import { type LogFilter, normalizeFilter } from './filter.js'
import { type Candidates, createLogWriter, type LogTexts, noLogs } from './logText.js'
import { lookAhead } from './lookAhead.js'
import { findPage, findRows, type LogAccess, type LogQueryOptions, readsAllRows } from './planner.js'
import { createSegmentIndex } from './segmentIndex.js'
import type { SharedWork } from './sharedBatches.js'
import type { LogTrace } from './trace.js'
import { createFilterTranslator } from './translateFilter.js'

export type { LogQueryOptions } from './planner.js'

/** Log queries over one connection. */
export interface LogSource {
  /** The matching logs as JSON, ordered by (blockNumber, logIndex), from one snapshot of the database. A range beyond
   *  the head ends at the head. @throws LogsUnavailable when the range begins before the first stored block
   *  @throws TooManyLogs beyond `maxResults` logs, with the range that fits @throws DeadlineExceeded; LogScanTimeout
   *  with the range that fits when rows were checked @throws TooManyTopics */
  query(filter: LogFilter, options: LogQueryOptions): LogTexts
  /** One page of the same logs; see `LogPage`. @throws LogsUnavailable, TooManyTopics */
  page(filter: LogFilter, options: LogPageOptions): LogPage
  /** Ids of the logs of an id range that match the addresses and topics, ascending. Call it in the snapshot the logs
   *  are read from. @throws TooManyTopics */
  findIds(filter: Pick<LogFilter, 'addresses' | 'topics'>, options: LogIdOptions): LogIdPage
  /** Helps another thread with its query, as `LogWriter` does. @throws DeadlineExceeded */
  help(work: SharedWork, options: { deadline: Deadline }): void
  /** Runs a query and collects its trace. */
  explain: LogExplainer
  /** Does about 10 ms of the work that the first query would otherwise do. True if more is left. */
  warm(): boolean
}

interface LogPageOptions {
  /** The page's first log, from the previous page; undefined: the start of the filter's range. */
  from?: LogPlace
  /** Maximum number of logs per page. */
  maxResults: number
  /** After this deadline the page ends at the next check, in less than a second. */
  sliceEnds: Deadline
  /** Trace of the query, if wanted. */
  trace?: LogTrace
}

interface LogIdOptions {
  range: IdRange
  /** Maximum number of ids. */
  maxResults: number
  /** After this deadline the search ends at the next check, in less than a second. */
  sliceEnds: Deadline
}

/** Ids of consecutive logs that match a filter. */
export interface LogIdPage {
  ids: number[]
  /** All matching ids below this one are in the page; undefined at the end of the range. */
  next?: number
}

/** Consecutive logs that match a filter. */
interface LogPage {
  logs: LogTexts
  /** The next page's first log, that of block `scannedTo + 1`; undefined at the end. */
  next?: LogPlace
  /** Last block whose matching logs are all in this page or earlier ones; less than the filter's first block if there
   *  is none yet. */
  scannedTo: number
}

// Rows of a range that are written without checking them first: 30 ms. With more, a timeout must know how far it got.
const UNCHECKED_ROWS = 10_000

/** Creates log queries with statements prepared once per connection. `watch` and `pages`, if passed, are of the same
 *  connection. */
export function createLogSource(
  db: Database,
  watch: CommitWatch = createCommitWatch(db),
  pages?: LogRecordSource,
): LogSource {
  const access: LogAccess = { rows: createLogRows(db), index: createSegmentIndex(db, watch) }
  const ranges = createLogRanges(db, watch)
  const translate = createFilterTranslator(db)
  const writer = createLogWriter(db, undefined, pages)
  const blockOfLog = createBlockOfLog(db)
  const writeWanted = (candidates: Candidates, count: number, filter: RowFilter, options: LogQueryOptions) => {
    const { trace } = options
    trace?.step('format')
    const texts = writer.writeWanted(candidates, filter, options)
    if (!texts) return undefined
    trace?.fetched(count)
    trace?.verified(count, texts.count)
    return texts
  }
  const answerRows = (filter: RowFilter, range: IdRange, options: LogQueryOptions): LogTexts => {
    const rangeLength = range.to - range.from
    if (readsAllRows(filter, range) && rangeLength <= Math.min(options.maxResults, UNCHECKED_ROWS)) {
      options.trace?.plan('rows')
      const texts = writeWanted(range, rangeLength, filter, options)
      if (texts) return texts
    }
    const { all, index } = lookAhead(access.index, filter, { range, most: options.maxResults, ...options })
    const texts = all && writeWanted(all, all.length, filter, options)
    if (texts) return texts
    const rows = findRows({ ...access, index }, filter, { range, ...options })
    options.trace?.step('format')
    return writer.write(rows, options)
  }
  /** The error, with a narrower range that would succeed, if known. */
  const addFittingRange = (error: unknown, { fromBlock }: LogFilter, { trace }: LogQueryOptions): unknown => {
    const fittingBefore = (log: number | undefined) => {
      const to = log === undefined ? -1 : blockOfLog.numberOf(log)! - 1
      return to < fromBlock ? undefined : { from: fromBlock, to }
    }
    if (error instanceof LogScanTimeout) return new LogScanTimeout({ ...error, fits: fittingBefore(error.scannedTo) })
    if (!(error instanceof TooManyLogs)) return error
    trace?.overflow(error.log, blockOfLog.numberOf(error.log)!)
    return new TooManyLogs({ ...error, fits: fittingBefore(error.log) })
  }
  const answer = (filter: LogFilter, range: AvailableRange, options: LogQueryOptions): LogTexts => {
    const { trace } = options
    trace?.inRange(range)
    const translated = translate(filter, options)
    trace?.translated(translated, filter)
    try {
      return answerRows(translated, range, options)
    } catch (error) {
      throw addFittingRange(error, filter, options)
    }
  }
  const run = (filter: LogFilter, options: LogQueryOptions): LogTexts => {
    options.trace?.begin(filter, options.maxResults)
    const range = resolveRange(ranges, filter)
    return range ? answer(filter, range, options) : noLogs()
  }
  const findLogsOfPage = (
    filter: LogFilter,
    range: AvailableRange,
    options: LogPageOptions,
  ): Pick<LogPage, 'logs' | 'next'> => {
    const { trace } = options
    trace?.inRange(range)
    const translated = translate(filter, { deadline: noDeadline })
    trace?.translated(translated, filter)
    const { rows, next } = findPage(access, translated, { ...options, range })
    trace?.step('format')
    const logs = writer.write(rows, { deadline: noDeadline })
    return { logs, next: next === undefined ? undefined : blockOfLog.placeOf(next) }
  }
  const runPage = (filter: LogFilter, options: LogPageOptions): LogPage => {
    const { trace, maxResults, from } = options
    trace?.begin(filter, maxResults)
    const held = resolveRange(ranges, filter)
    if (!held) return { logs: noLogs(), scannedTo: filter.toBlock }
    const first = from && ranges.idsOf(from.blockNumber, from.blockNumber)
    const fromId = first ? first.from + from.logIndex : 0
    const page = findLogsOfPage(filter, { ...held, from: Math.max(held.from, fromId) }, options)
    return { ...page, scannedTo: page.next === undefined ? filter.toBlock : page.next.blockNumber - 1 }
  }
  const inSnapshot = createSnapshots(watch)
  const explain = createLogExplainer(db, run)
  return {
    query: (filter, options) => inSnapshot(() => run(normalizeFilter(filter), options)),
    page: (filter, options) => inSnapshot(() => runPage(normalizeFilter(filter), options)),
    findIds: createIdSearch(access, translate),
    help: (work, options) => inSnapshot(() => writer.help(work, options)),
    explain: (filter, options) => inSnapshot(() => explain(filter, options)),
    warm: () => inSnapshot(() => access.index.warm(ranges.logCount())),
  }
}

function createSnapshots(watch: CommitWatch): <T>(work: () => T) => T {
  return (work) =>
    watch.withSnapshot(
      () => {
        watch.beforeRead()
        return work()
      },
      { reads: true },
    )
}

function createIdSearch(access: LogAccess, translate: ReturnType<typeof createFilterTranslator>): LogSource['findIds'] {
  return (filter, options) => {
    const translated = translate(normalizeFilter({ ...filter, fromBlock: 0, toBlock: 0 }), { deadline: noDeadline })
    const { rows, next } = findPage(access, translated, options)
    return { ids: rows.map(([id]) => id), next }
  }
}

interface AvailableRange extends IdRange {
  /** Number of the newest block. */
  head: number
}

/** Ids of the logs in the stored part of the filter's range. @throws LogsUnavailable */
function resolveRange(ranges: LogRanges, { fromBlock, toBlock }: LogFilter): AvailableRange | undefined {
  const coverage = ranges.coverage()
  if (coverage === undefined) return undefined
  const { first, head } = coverage
  if (fromBlock < first) throw new LogsUnavailable({ fromBlock, firstAvailable: first })
  const ids = ranges.idsOf(fromBlock, Math.min(toBlock, head))
  return ids && { ...ids, head }
}
