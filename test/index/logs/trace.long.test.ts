import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooManyLogs } from '../../../src/index/logs/errors.js'
import { type LogFilter, normalizeFilter } from '../../../src/index/logs/filter.js'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { LOG_SEARCH_INDEX } from '../../../src/index/logs/logSearchIndex.js'
import { createLogSource, type LogSource } from '../../../src/index/logs/query.js'
import {
  type ClauseName,
  type ConsultedClause,
  createLogTrace,
  LOG_STEPS,
  type LogFacts,
  type SegmentFacts,
} from '../../../src/index/logs/trace.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { DeadlineExceeded, noDeadline } from '../../../src/lib/deadline.js'
import type { Database } from '../../../src/store/database.js'
import { createSegmentStore } from '../../../src/store/index/segmentStore.js'
import { THOROUGH } from '../../support/thorough.js'
import { expectedMatches, FIRST_BLOCK, jsonOf, randomBlocks, randomFilter } from './randomFilters.js'
import { numberedBytes, type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'

const CHUNK_BITS = 6
const BLOCKS = 900
const FILTERS = THOROUGH ? 60 : 25
const POSITIONS: ClauseName[] = ['address_id', 'topic0_id', 'topic1', 'topic2', 'topic3']

function queryTraced(source: LogSource, filter: LogFilter, maxResults = 100_000) {
  const trace = createLogTrace()
  try {
    const found = source.query(filter, { deadline: noDeadline, maxResults, trace })
    trace.end({ outcome: 'answered', results: found.count })
    return { found, facts: trace.facts }
  } catch (error) {
    trace.end({ error })
    return { facts: trace.facts }
  }
}

/** The value that a clause looks at; of `presence`, whether there are as many topics. */
function valueAt(log: PlacedLog, name: ClauseName): Uint8Array | undefined {
  return name === 'address_id' ? log.address : log.topics[POSITIONS.indexOf(name) - 1]
}

/** What a segment must say about a clause that it was asked about, by a look at all its logs. */
function countByHand(logs: readonly PlacedLog[], filter: LogFilter, name: ClauseName) {
  if (name === 'presence') {
    const postings = logs.filter(({ topics }) => topics.length >= filter.topics.length).length
    return { found: postings > 0 ? 1 : 0, postings }
  }
  const position = POSITIONS.indexOf(name)
  const wanted = position === 0 ? filter.addresses! : filter.topics[position - 1]!
  const hits = wanted.map((value) => logs.filter((log) => equalBytes(valueAt(log, name) ?? new Uint8Array(0), value)))
  return { found: hits.filter(({ length }) => length > 0).length, postings: hits.flat().length }
}

function checkSegment(logs: readonly PlacedLog[], filter: LogFilter, segment: SegmentFacts): void {
  const own = logs.slice(segment.firstLog, segment.firstLog + segment.logs)
  assert.equal(own.length, segment.logs, 'a segment covers logs that there are')
  for (const { name, keys, found, postings, skipped } of segment.clauses) {
    if (skipped) assert.deepEqual([found, postings], [0, 0])
    else assert.deepEqual({ found, postings }, countByHand(own, filter, name), `segment ${segment.id}, ${name}`)
    assert.ok(found <= keys)
  }
  const asked = segment.clauses.filter(({ skipped }) => !skipped)
  const empty = asked.some(({ postings }) => postings === 0)
  assert.ok(asked.length > 0)
  assert.ok(segment.candidates <= Math.min(...asked.map(({ postings }) => postings)))
  const reasons = new Set(segment.clauses.map(({ skipped }: ConsultedClause) => skipped).filter(Boolean))
  if (reasons.size > 0) assert.deepEqual([...reasons], [empty ? 'empty' : 'rows'])
}

/** Segments and tail one after another over the whole range, whatever is between segments and range ends. */
function checkCoverage({ segments, tail, range }: LogFacts): void {
  let next = range!.from
  for (const { firstLog, logs } of segments) {
    assert.ok(firstLog <= next, `a gap before log ${firstLog}`)
    assert.ok(firstLog + logs > next, `segment from log ${firstLog} has nothing of the range`)
    next = firstLog + logs
  }
  if (tail) {
    assert.equal(tail.firstLog, next)
    next += tail.logs
  }
  assert.ok(next >= range!.to)
}

/** Traced and untraced queries give the same, and the facts agree with a look at every log. */
function compare(db: Database, logs: PlacedLog[], stage: string, seed: number): { [plan: string]: number } {
  const random = seededFractions(seed)
  const source = createLogSource(db)
  const plans: { [plan: string]: number } = {}
  for (let i = 0; i < FILTERS; i++) {
    const filter = normalizeFilter(randomFilter(random, BLOCKS))
    const plain = source.query(filter, { deadline: noDeadline, maxResults: 100_000 })
    const { found, facts } = queryTraced(source, filter)
    const where = `${stage}, filter ${i}`
    assert.equal(jsonOf(found!), jsonOf(plain), where)
    plans[facts.plan] = (plans[facts.plan] ?? 0) + 1
    const { rows, segments, tail } = facts
    assert.equal(rows.fetched, rows.met + rows.rejected, where)
    assert.equal(facts.results, plain.count, where)
    if (facts.plan !== 'none') assert.equal(rows.met, plain.count, where)
    for (const segment of segments) checkSegment(logs, filter, segment)
    if (facts.plan === 'index') {
      checkCoverage(facts)
      const candidates = segments.reduce((sum, segment) => sum + segment.candidates, tail?.candidates ?? 0)
      assert.equal(candidates, rows.fetched, where)
    }
    for (const step of LOG_STEPS) assert.ok(facts.ms[step] >= 0)
  }
  return plans
}

test('traced queries give what untraced ones give, and true facts, at every stage of the index', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(41), BLOCKS))
  const tailOnly = compare(db, logs, 'tail only', 1)
  assert.ok(tailOnly.index > 10 && tailOnly.rows > 1 && tailOnly.none > 0, JSON.stringify(tailOnly))

  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  indexer.add([])
  compare(db, logs, 'the last full chunk not sealed', 2)
  while (indexer.sealNext());
  compare(db, logs, 'sealed', 3)
  const store = createSegmentStore(db, LOG_SEARCH_INDEX.tables)
  let merging = 0
  for (let step = 0; indexer.work(0); step++) {
    if (step % 2_500 !== 450) continue
    merging += store.segments('building').length
    compare(db, logs, `step ${step}`, 100 + step)
  }
  assert.ok(merging > 0, 'some comparison fell into a merge')
  compare(db, logs, 'merged', 4)
  assert.equal(store.segments('live')[0].level, 2)
})

test('pages say what they did', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(42), BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  while (indexer.sealNext());
  const source = createLogSource(db)
  const random = seededFractions(43)
  let full = 0
  for (let i = 0; i < 100; i++) {
    const trace = createLogTrace()
    const filter = randomFilter(random, BLOCKS)
    const page = source.page(filter, { maxResults: 20, sliceEnds: noDeadline, trace })
    trace.end({ outcome: 'page', results: page.logs.count })
    const { rows, results, outcome, segments, tail } = trace.facts
    assert.deepEqual([outcome, results], ['page', page.logs.count])
    if (trace.facts.plan !== 'none') assert.equal(rows.met, page.logs.count)
    const candidates = segments.reduce((sum, segment) => sum + segment.candidates, tail?.candidates ?? 0)
    if (page.next !== undefined) full++
    else if (trace.facts.plan === 'index') assert.equal(rows.fetched, candidates)
    assert.ok(rows.fetched >= rows.met + rows.rejected)
  }
  assert.ok(full > 20)
})

test('a refusal names the log that was one too many, and its block', (t) => {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(44), BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: CHUNK_BITS })
  while (indexer.sealNext());
  const random = seededFractions(45)
  const plans = new Set<string>()
  for (let i = 0; i < 150; i++) {
    const filter = randomFilter(random, BLOCKS)
    const expected = expectedMatches(logs, filter)
    if (expected.length < 2) continue
    const maxResults = Math.floor(random() * expected.length)
    const { facts } = queryTraced(createLogSource(db), filter, maxResults)
    assert.equal(facts.outcome, 'tooMany')
    const tooMany = expected[maxResults]
    assert.deepEqual(facts.overflow, { log: logs.indexOf(tooMany), block: tooMany.blockNumber })
    plans.add(facts.plan)
    if (facts.plan === 'arithmetic') assert.deepEqual(facts.rows, { fetched: 0, met: 0, rejected: 0 })
    else assert.equal(facts.rows.met, maxResults + 1)
    assert.ok(facts.rows.fetched >= facts.rows.met + facts.rows.rejected)
  }
  assert.deepEqual([...plans].sort(), ['arithmetic', 'index', 'rows'])
})

test('steps partition the time', () => {
  let now = 1_000
  const trace = createLogTrace(() => now)
  const pass = (ms: number) => {
    now += ms
  }
  pass(1)
  trace.step('lookUp')
  trace.segment({ id: 7, level: 0, firstLog: 0, logs: 64 })
  pass(10)
  trace.step('intersect')
  pass(100)
  trace.segmentDone(3)
  trace.step('fetch')
  pass(1_000)
  trace.step('lookUp')
  trace.segment({ id: 8, level: 0, firstLog: 64, logs: 64 })
  pass(10_000)
  trace.end({ error: new DeadlineExceeded(5) })
  const { ms, segments, outcome } = trace.facts
  assert.equal(outcome, 'timeout')
  const expected = {
    ...Object.fromEntries(LOG_STEPS.map((step) => [step, 0])),
    translate: 1,
    lookUp: 10_010,
    intersect: 100,
  }
  assert.deepEqual(ms, { ...expected, fetch: 1_000 })
  assert.deepEqual(
    segments.map(({ id, ms, candidates }) => [id, ms, candidates]),
    [
      [7, 110, 3],
      [8, 10_000, 0],
    ],
  )
})

test('clauses say how many of their values were ever logged', (t) => {
  const db = temporaryDatabase(t)
  const [log] = writeLogs(db, FIRST_BLOCK, [
    [
      [
        {
          address: numberedBytes(1, 20),
          topics: [numberedBytes(2, 32), numberedBytes(3, 32)],
          data: new Uint8Array(0),
        },
      ],
    ],
  ])
  const values = (length: number, ...numbers: number[]) => numbers.map((number) => numberedBytes(number, length))
  const { facts } = queryTraced(createLogSource(db), {
    fromBlock: FIRST_BLOCK,
    toBlock: FIRST_BLOCK + 5,
    addresses: values(20, 9, 1, 8, 9),
    topics: [values(32, 2), values(32, 4, 5), null],
  })
  assert.equal(facts.clampedTo, FIRST_BLOCK)
  assert.deepEqual(facts.range, { from: 0, to: 1 })
  assert.equal(facts.minTopics, 3)
  assert.deepEqual(facts.clauses, [
    { name: 'address_id', values: 3, known: 1, first: `0x${'0'.repeat(39)}9` },
    { name: 'topic0_id', values: 1, known: 1, first: `0x${'0'.repeat(63)}2` },
    { name: 'topic1', values: 2, known: undefined, first: `0x${'0'.repeat(63)}4` },
  ])
  assert.equal(log.blockNumber, FIRST_BLOCK)
})

test('an unexpected failure is distinguished from a refusal', () => {
  const outcomes = [new TooManyLogs({ limit: 1, log: 1 }), new DeadlineExceeded(1), new TypeError('wrong')].map(
    (error) => {
      const trace = createLogTrace()
      trace.end({ error })
      return trace.facts.outcome
    },
  )
  assert.deepEqual(outcomes, ['tooMany', 'timeout', 'failed'])
})
