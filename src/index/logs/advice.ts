import { MERGE_FACTOR } from '../../store/index/segmentStore.js'
import { CHUNK_SIZE } from '../segments/postings.js'
import type { ClauseFacts, ClauseName, LogFacts, LogStep } from './trace.js'
import type { ValueCounts } from './valueCounts.js'

// A clause that matches more than this share of the logs narrows a query little.
const BROAD = 0.05
// Reading this many rows takes some tens of milliseconds; no advice below.
const MANY_ROWS = 10_000
// An up-to-date index has fewer lowest-level segments than one merge needs.
const UNMERGED = 2 * MERGE_FACTOR
// Up to two chunks are unsealed: one is filling while the one before is sealed.
const LONGEST_TAIL = 2 * CHUNK_SIZE
// Steps shorter than this need no advice.
const SLOW_MS = 50

const MEMBERS: { readonly [name in ClauseName]: string } = {
  address_id: 'address',
  topic0_id: 'topics[0]',
  topic1: 'topics[1]',
  topic2: 'topics[2]',
  topic3: 'topics[3]',
  presence: 'topics.length',
}

/** The member of the JSON-RPC filter that a clause comes from; `topics.length` when only the number of topics
 *  counts. */
export function filterMember(name: ClauseName): string {
  return MEMBERS[name]
}

/** Advice for the caller and the operator, as sentences, most important first. Empty when the query cannot be improved.
 *  `values` are the counts of its values in the segments it searched. */
export function adviseOn(facts: LogFacts, values: readonly ValueCounts[] = []): string[] {
  return [
    ...adviseOnRange(facts),
    ...adviseOnUnknown(facts),
    ...adviseOnTooMany(facts),
    ...adviseOnTimeout(facts),
    ...adviseOnBreadth(facts),
    ...adviseOnFrequent(facts, values),
    ...adviseOnRows(facts),
    ...adviseOnIndex(facts),
  ]
}

function adviseOnRange({ outcome, firstAvailable, range }: LogFacts): string[] {
  if (outcome === 'unavailable')
    return [`the first stored block is ${firstAvailable}: set fromBlock to it, or import older blocks`]
  return outcome === 'answered' && !range ? ['the range contains no stored block'] : []
}

function adviseOnUnknown({ clauses }: LogFacts): string[] {
  return clauses.flatMap(({ name, values, known = values }) => {
    const member = filterMember(name)
    if (known === values) return []
    if (known > 0)
      return [`${member}: ${count(values - known)} of ${count(values)} values were never logged: drop them`]
    return [
      `${member}: ${values === 1 ? 'the value was never' : 'none of the values was ever'} logged, so nothing can match`,
    ]
  })
}

function adviseOnTooMany({ outcome, overflow, fromBlock, maxResults }: LogFacts): string[] {
  if (outcome !== 'tooMany') return []
  const words = `more than ${count(maxResults)} logs match`
  if (overflow?.block === undefined) return [`${words}: narrow the range, or use eth_getLogsWithCursor`]
  const { block } = overflow
  if (block === fromBlock) return [`${words} in block ${block} alone: use eth_getLogsWithCursor`]
  return [
    `${words}; the limit is exceeded in block ${block}: set toBlock to ${block - 1}, or use eth_getLogsWithCursor`,
  ]
}

function adviseOnTimeout({ outcome, ms }: LogFacts): string[] {
  if (outcome !== 'timeout') return []
  const [step, longest] = (Object.entries(ms) as [LogStep, number][]).reduce((a, b) => (b[1] > a[1] ? b : a))
  return [`timed out; ${STEP_WORDS[step]} took ${count(longest)} ms: narrow the range, or use eth_getLogsWithCursor`]
}

const STEP_WORDS: { readonly [step in LogStep]: string } = {
  translate: 'looking up the values',
  lookUp: 'looking up the index',
  intersect: 'intersecting postings',
  tailLoad: 'loading the tail into memory',
  tailScan: 'scanning the tail',
  fetch: 'reading rows',
  verify: 'matching rows against the filter',
  format: 'encoding the response',
}

/** Advice for a query that reads many rows although its narrowest clause is broad. */
function adviseOnBreadth(facts: LogFacts): string[] {
  const { outcome, rows, clauses } = facts
  if (outcome === 'answered' && rows.fetched < MANY_ROWS) return []
  if (facts.plan === 'none' || outcome === 'unavailable') return []
  const wanted = clauses.some(({ name }) => name === 'address_id')
    ? 'add a topic, or narrow the range'
    : 'add an address, or narrow the range'
  if (clauses.length === 0)
    return [`the filter has no address and no topic, so it covers all logs of the range: ${wanted}`]
  const narrowest = findNarrowest(facts)
  if (!narrowest || narrowest.share < BROAD) return []
  const percent = (100 * narrowest.share).toFixed(0)
  return [`${narrowest.member} is the most selective clause and has ${percent} % of the logs searched: ${wanted}`]
}

/** The clause with the smallest share of the logs in the segments where it was looked up. */
function findNarrowest({ segments }: LogFacts): { member: string; share: number } | undefined {
  const sums = new Map<ClauseName, { postings: number; logs: number }>()
  for (const { logs, clauses } of segments) {
    for (const { name, postings, skipped } of clauses) {
      if (skipped) continue
      const before = sums.get(name) ?? { postings: 0, logs: 0 }
      sums.set(name, { postings: before.postings + postings, logs: before.logs + logs })
    }
  }
  const shares = Array.from(sums, ([name, sum]) => ({ member: filterMember(name), share: sum.postings / sum.logs }))
  return shares.sort((a, b) => a.share - b.share)[0]
}

/** Advice for a query that timed out or was refused: a value that has most of the logs of its list. */
function adviseOnFrequent({ outcome, clauses }: LogFacts, values: readonly ValueCounts[]): string[] {
  if (outcome !== 'tooMany' && outcome !== 'timeout') return []
  return values.flatMap(({ name, top }) => {
    const asked = clauses.find((clause: ClauseFacts) => clause.name === name)?.values ?? 0
    const [first, ...others] = top
    if (asked < 2 || !first || first.logs < MANY_ROWS) return []
    if (others.reduce((sum, { logs }) => sum + logs, 0) > first.logs) return []
    return [
      `${filterMember(name)}: ${first.value} alone has ${count(first.logs)} logs, more than the other top values together: query it separately`,
    ]
  })
}

function adviseOnRows({ rows, segments }: LogFacts): string[] {
  if (rows.rejected < MANY_ROWS) return []
  const skipped = segments.flatMap(({ clauses }) => clauses.filter((clause) => clause.skipped === 'rows'))
  const largest = skipped.sort((a, b) => b.keys - a.keys)[0]
  if (!largest) return []
  const member = filterMember(largest.name)
  return [
    `${count(rows.rejected)} rows were read and rejected, because looking up the ${count(largest.keys)} values of ${member} in the index was estimated to be slower: use fewer values`,
  ]
}

function adviseOnIndex({ tail, segments, ms }: LogFacts): string[] {
  const advice: string[] = []
  if (tail && tail.logs >= LONGEST_TAIL) {
    advice.push(
      `${count(tail.logs)} logs are not indexed yet: the operator should let 'cairn import' or 'cairn reindex' finish`,
    )
  } else if (tail && ms.tailLoad > SLOW_MS) {
    advice.push(`${count(tail.loaded)} logs were loaded into memory first; later queries in this thread reuse them`)
  }
  const small = segments.filter(({ level }) => level === 0).length
  if (small > UNMERGED) {
    advice.push(`${small} index segments are not merged yet: the operator should let 'cairn import' finish`)
  }
  return advice
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}
