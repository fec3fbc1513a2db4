import { DeadlineExceeded } from '../lib/deadline.js'
import { formatData } from '../lib/hex.js'
import type { ClauseColumn, IdRange, RowFilter } from '../store/logs/rowFilter.js'
import { LogsNotHeld, TooManyLogs } from './errors.js'
import type { LogFilter } from './filter.js'

/** What a query does, in the order in which it begins to. `translate` also has the range of ids, `fetch` is the reading of
 *  candidate rows, `format` the writing of the answer: where there are no more candidates than there may be
 *  results, and no lists, all that is done with them. */
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

/** How a query goes about it: `none` when the filter names only values that were never logged, or no block; `arithmetic`
 *  refuses without a look at any log; `rows` reads all logs of the range, `index` the candidates. */
export type LogPlan = 'none' | 'arithmetic' | 'rows' | 'index'

/** How it ended. `page`: with logs, and maybe more behind them. */
export type LogOutcome = 'answered' | 'page' | 'tooMany' | 'timeout' | 'notHeld' | 'failed'

/** What a clause is about; `presence`: that there are as many topics as the filter has positions. */
export type ClauseName = ClauseColumn | 'presence'

/** A clause of the filter. */
export interface ClauseFacts {
  name: ClauseName
  /** Values named, each once. */
  values: number
  /** How many of them were ever logged; undefined for topics 1 to 3, which have no dictionary. */
  known?: number
  /** The first of them, as full hex. */
  first: string
}

/** What a segment was asked about a clause. */
export interface ConsultedClause {
  name: ClauseName
  /** Keys looked up, or that would have been. */
  keys: number
  /** Keys that the segment has. */
  found: number
  /** Logs of those keys in the whole segment, one counted for each of its keys: known before, and whether or not, they
   *  are read. */
  postings: number
  /** Why it was not asked: `rows` when reading the candidates left is cheaper, `empty` when a clause before has none. */
  skipped?: 'rows' | 'empty'
}

/** A segment that a query looked into. */
export interface SegmentFacts {
  id: number
  level: number
  firstLog: number
  /** Logs that it covers, in the query's range or not. */
  logs: number
  /** In the order in which they were consulted; skipped ones last. */
  clauses: ConsultedClause[]
  /** True when it knew of two clauses that none of its logs meets both, so that no posting was read. */
  disjoint: boolean
  candidates: number
  ms: number
}

/** The scan of logs behind the last segment. */
export interface TailFacts {
  firstLog: number
  /** Logs scanned: those in the query's range. */
  logs: number
  /** Rows that had to be read into memory first. */
  loaded: number
  candidates: number
}

/** What a query found out on its way. After an error: up to there. */
export interface LogFacts {
  outcome: LogOutcome
  plan: LogPlan
  /** As it was asked for. */
  fromBlock: number
  toBlock: number
  /** Logs of the blocks of the range that are held; undefined when there are none. */
  range?: IdRange
  /** The last block held, where the range ends beyond it. */
  clampedTo?: number
  /** The first block held, where the range begins before it. */
  firstHeld?: number
  clauses: ClauseFacts[]
  /** The least number of topics. */
  minTopics: number
  segments: SegmentFacts[]
  tail?: TailFacts
  /** Rows read; of them those that met the filter and those that did not. The rest was not looked at any more. */
  rows: { fetched: number; met: number; rejected: number }
  /** Logs given. */
  results: number
  /** Results that there may be at most. */
  maxResults: number
  /** Id of the log that was one too many, and its block. */
  overflow?: { log: number; block?: number }
  /** Time by step; all steps together are the time of the query. */
  ms: { [step in LogStep]: number }
}

/** Collects the facts of one query while it runs. Steps partition the time: what passes belongs to the step that was begun
 *  last. It is called for each segment, clause and batch, never for each key or row. */
export interface LogTrace {
  readonly facts: LogFacts
  step(name: LogStep): void
  begin(filter: LogFilter, maxResults: number): void
  /** There are such logs, and the chain held ends with `head`. */
  inRange(range: IdRange & { head: number }): void
  translated(filter: RowFilter, asked: LogFilter): void
  plan(plan: LogPlan): void
  /** A segment is looked into; the one before is done. */
  segment(segment: Pick<SegmentFacts, 'id' | 'level' | 'firstLog' | 'logs'>): void
  /** The segment was asked about a clause. */
  consulted(clause: ConsultedClause): void
  /** The segment is not asked about the clauses that are left, from the one behind those that it was. */
  skipped(order: readonly { name: ClauseName; keys: readonly unknown[] }[], why: 'rows' | 'empty'): void
  /** The segment knows that none of its logs meets two of the clauses. */
  apart(): void
  segmentDone(candidates: number): void
  tail(range: IdRange): TailFacts
  fetched(rows: number): void
  /** Of so many rows that were compared with the filter, so many met it. */
  verified(rows: number, met: number): void
  /** The log, of that block, is one too many. */
  overflow(log: number, block: number): void
  /** Ends the time of the last step and says how the query ended; an error, or how many logs it gave. */
  end(ended: { error: unknown } | { results: number; outcome: 'answered' | 'page' }): void
}

/** A trace for one query. */
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
      // Not by spreading, which takes 3 µs.
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
    apart: () => {
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

function describeFailure(error: unknown): Pick<LogFacts, 'outcome' | 'firstHeld'> {
  if (error instanceof TooManyLogs) return { outcome: 'tooMany' }
  if (error instanceof DeadlineExceeded) return { outcome: 'timeout' }
  if (error instanceof LogsNotHeld) return { outcome: 'notHeld', firstHeld: error.firstHeld }
  return { outcome: 'failed' }
}

/** The clauses with how many values were asked for, of which those that were never logged dropped out. */
function describeClauses({ clauses }: RowFilter, { addresses, topics }: LogFilter): ClauseFacts[] {
  const asked = [addresses, ...topics].filter((values) => values !== undefined && values !== null)
  return clauses.map(({ column, keys }, i) => ({
    name: column,
    values: asked[i].length,
    known: column === 'address_id' || column === 'topic0_id' ? keys.length : undefined,
    first: formatData(asked[i][0]),
  }))
}
