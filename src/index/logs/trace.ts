import { DeadlineExceeded } from '../../lib/deadline.js'
import { formatData } from '../../lib/hex.js'
import type { ClauseColumn, IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import { LogsUnavailable, TooManyLogs } from './errors.js'
import type { LogFilter } from './filter.js'

/** Steps of a query, in order. `translate` includes resolving the id range, `fetch` is reading candidate rows, `format`
 *  is writing the result. Without lists, and with no more candidates than allowed results, `format` also checks the
 *  candidates. */
export const LOG_STEPS = [
  'translate',
  'lookUp',
  'intersect',
  'tailLoad',
  'tailScan',
  'fetch',
  'verify',
  'format',
] as const
export type LogStep = (typeof LOG_STEPS)[number]

/** How the query is executed: `none` when the filter names only values that were never logged, or no stored block;
 *  `arithmetic` refuses without reading a log; `rows` reads all logs of the range; `index` reads the candidates. */
type LogPlan = 'none' | 'arithmetic' | 'rows' | 'index'

/** How the query ended. `page`: with logs, possibly not the last ones. */
type LogOutcome = 'answered' | 'page' | 'tooMany' | 'timeout' | 'unavailable' | 'failed'

/** The column of a clause; `presence`: the log has as many topics as the filter has positions. */
export type ClauseName = ClauseColumn | 'presence'

/** A clause of the filter. */
export interface ClauseFacts {
  name: ClauseName
  /** Number of distinct values. */
  values: number
  /** Values that were ever logged; undefined for topics 1 to 3, which have no dictionary. */
  known?: number
  /** The first value, as full hex. */
  first: string
}

/** A clause that was looked up in a segment. */
export interface ConsultedClause {
  name: ClauseName
  /** Keys that were, or would have been, looked up. */
  keys: number
  /** Keys found in the segment. */
  found: number
  /** Logs of those keys in the whole segment, counted once per key. Known before any posting is read. */
  postings: number
  /** Why the clause was not looked up: `rows` when reading the remaining candidates is cheaper, `empty` when an earlier
   *  clause has no match. */
  skipped?: 'rows' | 'empty'
}

/** A segment that the query searched. */
export interface SegmentFacts {
  id: number
  level: number
  firstLog: number
  /** Logs in the segment, inside and outside of the query's range. */
  logs: number
  /** In the order of their look-up; skipped ones last. */
  clauses: ConsultedClause[]
  /** True when the key pairs show that no log of the segment matches two of the clauses; no posting was read. */
  disjoint: boolean
  candidates: number
  ms: number
}

/** The scan of logs behind the last segment. */
export interface TailFacts {
  firstLog: number
  /** Logs scanned: those in the query's range. */
  logs: number
  /** Rows that were read into memory first. */
  loaded: number
  candidates: number
}

/** Facts about a query. After an error: up to that point. */
export interface LogFacts {
  outcome: LogOutcome
  plan: LogPlan
  /** As requested. */
  fromBlock: number
  toBlock: number
  /** Log ids of the stored blocks in the range; undefined when no block is stored. */
  range?: IdRange
  /** The newest block, when the range ends beyond it. */
  clampedTo?: number
  /** The first stored block, when the range begins before it. */
  firstAvailable?: number
  clauses: ClauseFacts[]
  /** Minimum number of topics. */
  minTopics: number
  segments: SegmentFacts[]
  tail?: TailFacts
  /** Rows read; those that matched, and those that did not. The rest was not checked. */
  rows: { fetched: number; met: number; rejected: number }
  /** Logs returned. */
  results: number
  /** Result limit. */
  maxResults: number
  /** The first log over the limit, and its block. */
  overflow?: { log: number; block?: number }
  /** Time by step; the steps add up to the time of the query. */
  ms: { [step in LogStep]: number }
}

/** Collects the facts of one running query. Time is charged to the current step, so the steps add up to the total.
 *  Called per segment, clause and batch, never per key or row. */
export interface LogTrace {
  readonly facts: LogFacts
  step(name: LogStep): void
  begin(filter: LogFilter, maxResults: number): void
  /** The range has logs; `head` is the newest block. */
  inRange(range: IdRange & { head: number }): void
  translated(filter: RowFilter, asked: LogFilter): void
  plan(plan: LogPlan): void
  /** Starts a segment and ends the previous one. */
  segment(segment: Pick<SegmentFacts, 'id' | 'level' | 'firstLog' | 'logs'>): void
  /** A clause was looked up in the segment. */
  consulted(clause: ConsultedClause): void
  /** The remaining clauses in `order`, after those consulted, are not looked up. */
  skipped(order: readonly { name: ClauseName; keys: readonly unknown[] }[], why: 'rows' | 'empty'): void
  /** No log of the segment matches two of the clauses. */
  disjoint(): void
  segmentDone(candidates: number): void
  tail(range: IdRange): TailFacts
  fetched(rows: number): void
  /** `rows` rows were checked against the filter; `met` matched. */
  verified(rows: number, met: number): void
  /** The log, in that block, is over the limit. */
  overflow(log: number, block: number): void
  /** Ends the last step and records the outcome: an error, or the number of logs. */
  end(ended: { error: unknown } | { results: number; outcome: 'answered' | 'page' }): void
}

/** Creates a trace of one query. */
export function createLogTrace(now: () => number = () => performance.now()): LogTrace {
  const facts = emptyFacts()
  let step: LogStep = 'translate'
  let since = now()
  let open: { segment: SegmentFacts; since: number } | undefined
  const turn = () => {
    const at = now()
    facts.ms[step] += at - since
    since = at
  }
  const closeSegment = () => {
    if (open) open.segment.ms = now() - open.since
    open = undefined
  }
  return {
    facts,
    step: (name) => {
      turn()
      step = name
    },
    begin: ({ fromBlock, toBlock }, maxResults) => Object.assign(facts, { fromBlock, toBlock, maxResults }),
    inRange: ({ from, to, head }) => {
      facts.range = { from, to }
      if (facts.toBlock > head) facts.clampedTo = head
    },
    translated: (filter, asked) => {
      facts.minTopics = filter.minTopics
      facts.clauses = describeClauses(filter, asked)
    },
    plan: (plan) => {
      facts.plan = plan
    },
    segment: ({ id, level, firstLog, logs }) => {
      // Written out because a spread takes 3 µs.
      const entry: SegmentFacts = { id, level, firstLog, logs, clauses: [], disjoint: false, candidates: 0, ms: 0 }
      facts.segments.push(entry)
      open = { segment: entry, since: now() }
    },
    consulted: (clause) => void open?.segment.clauses.push(clause),
    skipped: (order, why) => {
      const clauses = open?.segment.clauses ?? []
      for (let i = clauses.length; i < order.length; i++) {
        clauses.push({ name: order[i].name, keys: order[i].keys.length, found: 0, postings: 0, skipped: why })
      }
    },
    disjoint: () => {
      if (open) open.segment.disjoint = true
    },
    segmentDone: (candidates) => {
      if (open) open.segment.candidates = candidates
      closeSegment()
    },
    tail: ({ from, to }) => {
      facts.tail = { firstLog: from, logs: to - from, loaded: 0, candidates: 0 }
      return facts.tail
    },
    fetched: (rows) => {
      facts.rows.fetched += rows
    },
    verified: (rows, met) => {
      facts.rows.met += met
      facts.rows.rejected += rows - met
    },
    overflow: (log, block) => {
      facts.overflow = { log, block }
    },
    end: (ended) => {
      turn()
      closeSegment()
      if ('error' in ended) Object.assign(facts, describeFailure(ended.error))
      else Object.assign(facts, ended)
    },
  }
}

function emptyFacts(): LogFacts {
  return {
    outcome: 'failed',
    plan: 'none',
    fromBlock: 0,
    toBlock: 0,
    clauses: [],
    minTopics: 0,
    segments: [],
    rows: { fetched: 0, met: 0, rejected: 0 },
    results: 0,
    maxResults: 0,
    ms: { translate: 0, lookUp: 0, intersect: 0, tailLoad: 0, tailScan: 0, fetch: 0, verify: 0, format: 0 },
  }
}

function describeFailure(error: unknown): Pick<LogFacts, 'outcome' | 'firstAvailable'> {
  if (error instanceof TooManyLogs) return { outcome: 'tooMany' }
  if (error instanceof DeadlineExceeded) return { outcome: 'timeout' }
  if (error instanceof LogsUnavailable) return { outcome: 'unavailable', firstAvailable: error.firstAvailable }
  return { outcome: 'failed' }
}

/** The clauses with the number of requested values, including values that were never logged and dropped. */
function describeClauses({ clauses }: RowFilter, { addresses, topics }: LogFilter): ClauseFacts[] {
  const asked = [addresses, ...topics].filter((values) => values !== undefined && values !== null)
  return clauses.map(({ column, keys }, i) => ({
    name: column,
    values: asked[i].length,
    known: column === 'address_id' || column === 'topic0_id' ? keys.length : undefined,
    first: formatData(asked[i][0]),
  }))
}
