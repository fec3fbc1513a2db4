import { filterMember } from '../../index/logs/advice.js'
import type { LogExplanation } from '../../index/logs/explain.js'
import {
  type ClauseName,
  type ConsultedClause,
  LOG_STEPS,
  type LogFacts,
  type LogStep,
} from '../../index/logs/trace.js'
import { formatQuantity } from '../../lib/hex.js'

/** A clause of the filter, with totals over all segments. */
export interface ClauseJson {
  /** The filter member it comes from. */
  member: string
  values: number
  known: number | null
  first: string | null
  /** Segments in which it was evaluated, and in which it was skipped. */
  asked: number
  skipped: number
  found: number
  postings: number
  /** Values found in no segment, and the most frequent ones. */
  absent?: number
  top?: { value: string; logs: number }[]
}

/** A segment that was used. */
export interface SegmentJson {
  id: number
  level: number
  firstLog: number
  logs: number
  fromBlock?: string
  toBlock?: string
  clauses: { member: string; keys: number; found: number; postings: number; skipped: 'rows' | 'empty' | null }[]
  disjoint: boolean
  candidates: number
  ms: number
}

/** The trace of a log query as JSON. */
interface FactsJson {
  outcome: LogFacts['outcome']
  plan: LogFacts['plan']
  results: number
  maxResults: number
  range: {
    fromBlock: string
    toBlock: string
    clampedTo: string | null
    firstAvailable: string | null
    firstLog: number | null
    logs: number
  }
  minTopics: number
  clauses: ClauseJson[]
  segments: SegmentJson[]
  tail: { firstLog: number; logs: number; loaded: number; candidates: number } | null
  rows: { fetched: number; met: number; rejected: number }
  overflow: { log: number; block: string | null } | null
  ms: { total: number } & { [step in LogStep]: number }
}

/** The result of `cairn_explainLogs`. */
export interface ExplanationJson extends FactsJson {
  answerBytes: number | null
  advice: string[]
}

/** The trace of a query as JSON; times in milliseconds with three decimals. */
export function formatFacts(facts: LogFacts): FactsJson {
  const { outcome, plan, results, maxResults, minTopics, rows } = facts
  return {
    outcome,
    plan,
    results,
    maxResults,
    range: formatRange(facts),
    minTopics,
    clauses: formatClauses(facts),
    segments: facts.segments.map(({ clauses, ms, ...segment }) => ({
      ...segment,
      clauses: clauses.map(formatConsulted),
      ms: round(ms),
    })),
    tail: facts.tail ?? null,
    rows,
    overflow: facts.overflow ? { log: facts.overflow.log, block: quantityOrNull(facts.overflow.block) } : null,
    ms: formatTimes(facts),
  }
}

/** An explanation as JSON: the trace, with the block ranges of the segments and the frequent values. */
export function formatExplanation({
  facts,
  answerBytes,
  segmentBlocks,
  values,
  advice,
}: LogExplanation): ExplanationJson {
  const json = formatFacts(facts)
  return {
    ...json,
    clauses: json.clauses.map((clause) => {
      const counted = values?.find(({ name }) => filterMember(name) === clause.member)
      return counted ? { ...clause, absent: counted.absent, top: counted.top } : clause
    }),
    segments: json.segments.map((segment, i) => ({
      ...segment,
      fromBlock: formatQuantity(segmentBlocks[i].first),
      toBlock: formatQuantity(segmentBlocks[i].last),
    })),
    answerBytes: answerBytes ?? null,
    advice,
  }
}

function formatRange({ fromBlock, toBlock, clampedTo, firstAvailable, range }: LogFacts): FactsJson['range'] {
  return {
    fromBlock: formatQuantity(fromBlock),
    toBlock: formatQuantity(toBlock),
    clampedTo: quantityOrNull(clampedTo),
    firstAvailable: quantityOrNull(firstAvailable),
    firstLog: range?.from ?? null,
    logs: range ? Math.max(0, range.to - range.from) : 0,
  }
}

function formatClauses({ clauses, segments }: LogFacts): ClauseJson[] {
  const consulted = segments.flatMap((segment) => segment.clauses)
  const totals = (wanted: ClauseName) => {
    const own = consulted.filter(({ name }) => name === wanted)
    const asked = own.filter(({ skipped }) => skipped === undefined)
    return {
      asked: asked.length,
      skipped: own.length - asked.length,
      found: asked.reduce((sum, { found }) => sum + found, 0),
      postings: asked.reduce((sum, { postings }) => sum + postings, 0),
    }
  }
  const named = clauses.map(({ name, values, known, first }) => {
    return { member: filterMember(name), values, known: known ?? null, first, ...totals(name) }
  })
  if (!consulted.some(({ name }) => name === 'presence')) return named
  return [...named, { member: filterMember('presence'), values: 1, known: null, first: null, ...totals('presence') }]
}

function formatConsulted({ name, keys, found, postings, skipped }: ConsultedClause): SegmentJson['clauses'][number] {
  return { member: filterMember(name), keys, found, postings, skipped: skipped ?? null }
}

function formatTimes({ ms }: LogFacts): FactsJson['ms'] {
  const total = LOG_STEPS.reduce((sum, step) => sum + ms[step], 0)
  const steps = Object.fromEntries(LOG_STEPS.map((step) => [step, round(ms[step])])) as FactsJson['ms']
  return { ...steps, total: round(total) }
}

function quantityOrNull(value: number | undefined): string | null {
  return value === undefined ? null : formatQuantity(value)
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
