import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adviseOn } from '../../../src/index/logs/advice.js'
import { createLogTrace, type LogFacts, type SegmentFacts } from '../../../src/index/logs/trace.js'

/** Facts of a query that went well, but for those given. */
function facts(given: Partial<LogFacts>): LogFacts {
  return { ...createLogTrace().facts, outcome: 'answered', plan: 'index', range: { from: 0, to: 1_000_000 }, ...given }
}

const named = (values: number, known?: number) => ({ name: 'address_id' as const, values, known, first: '0x00' })
const refused: Partial<LogFacts> = { outcome: 'tooMany', maxResults: 10_000, fromBlock: 5 }

function segment(postings: number, more: Partial<SegmentFacts> = {}): SegmentFacts {
  const clauses = [{ name: 'topic0_id' as const, keys: 1, found: 1, postings }]
  return { id: 1, level: 0, firstLog: 0, logs: 65_536, clauses, disjoint: false, candidates: 0, ms: 0, ...more }
}

test('a query that went well gets no advice', () => {
  assert.deepEqual(adviseOn(facts({ clauses: [named(3, 3)], segments: [segment(60_000)] })), [])
  assert.deepEqual(adviseOn(facts({ tail: { firstLog: 0, logs: 70_000, loaded: 0, candidates: 5 } })), [])
})

test('values that were never logged are named', () => {
  assert.deepEqual(adviseOn(facts({ clauses: [named(1000, 990)] })), [
    'address: 10 of 1,000 values were never logged: drop them',
  ])
  const never = [named(1, 0), { name: 'topic0_id' as const, values: 2, known: 0, first: '0x00' }]
  assert.deepEqual(adviseOn(facts({ plan: 'none', clauses: never })), [
    'address: the value was never logged, so nothing can match',
    'topics[0]: none of the values was ever logged, so nothing can match',
  ])
})

test('a refusal says how far a query can go', () => {
  const advise = (block?: number) => adviseOn(facts({ ...refused, overflow: { log: 1, block } }))[0]
  assert.equal(
    advise(9),
    'more than 10,000 logs match; the limit is exceeded in block 9: set toBlock to 8, or use eth_getLogsWithCursor',
  )
  assert.equal(advise(5), 'more than 10,000 logs match in block 5 alone: use eth_getLogsWithCursor')
  assert.equal(advise(), 'more than 10,000 logs match: narrow the range, or use eth_getLogsWithCursor')
})

test('a query that reads much reports the share of the narrowest clause', () => {
  const wide = { name: 'topic1' as const, keys: 1, found: 1, postings: 60_000 }
  const segments = [segment(16_384, { clauses: [wide, ...segment(16_384).clauses] }), segment(16_384)]
  const clauses = [{ name: 'topic0_id' as const, values: 1, known: 1, first: '0x00' }]
  const read = facts({ clauses, segments, rows: { fetched: 20_000, met: 20_000, rejected: 0 } })
  assert.deepEqual(adviseOn(read), [
    'topics[0] is the most selective clause and has 25 % of the logs searched: add an address, or narrow the range',
  ])
  assert.match(adviseOn({ ...read, clauses: [...clauses, named(1, 1)] })[0], /: add a topic, or narrow the range$/)
  assert.deepEqual(adviseOn({ ...read, segments: [segment(100)] }), [], 'a narrow clause is as good as it gets')
  assert.deepEqual(adviseOn({ ...read, rows: { fetched: 200, met: 200, rejected: 0 } }), [])
  assert.deepEqual(adviseOn({ ...read, clauses: [], segments: [] }), [
    'the filter has no address and no topic, so it covers all logs of the range: add an address, or narrow the range',
  ])
})

test('a timeout names what took longest', () => {
  const ms = { ...createLogTrace().facts.ms, fetch: 8_000, lookUp: 2_000 }
  assert.deepEqual(adviseOn(facts({ outcome: 'timeout', ms, clauses: [named(1, 1)] })), [
    'timed out; reading rows took 8,000 ms: narrow the range, or use eth_getLogsWithCursor',
  ])
})

test('one value with most of the logs of its list is named when there was no answer', () => {
  const top = [
    { value: '0xaa', logs: 50_000 },
    { value: '0xbb', logs: 300 },
  ]
  const values = [{ name: 'address_id' as const, absent: 0, top }]
  const asked = facts({ ...refused, clauses: [named(2, 2)], overflow: { log: 1, block: 9 } })
  assert.equal(
    adviseOn(asked, values)[1],
    'address: 0xaa alone has 50,000 logs, more than the other top values together: query it separately',
  )
  assert.equal(adviseOn({ ...asked, outcome: 'answered' }, values).length, 0)
  assert.equal(
    adviseOn(asked, [{ ...values[0], top: [top[0], { value: '0xbb', logs: 49_000 }, { value: '0xcc', logs: 2_000 }] }])
      .length,
    1,
  )
})

test('rows that were read for nothing are reported with the clause that was not looked up', () => {
  const clauses = [
    { name: 'topic0_id' as const, keys: 1, found: 1, postings: 100 },
    { name: 'address_id' as const, keys: 4_000, found: 0, postings: 0, skipped: 'rows' as const },
  ]
  const rows = { fetched: 15_100, met: 100, rejected: 15_000 }
  assert.deepEqual(adviseOn(facts({ rows, clauses: [named(4_000, 4_000)], segments: [segment(0, { clauses })] })), [
    '15,000 rows were read and rejected, because looking up the 4,000 values of address in the index was estimated to be slower: use fewer values',
  ])
})

test('an index that is behind is reported to the operator', () => {
  const tail = { firstLog: 0, logs: 200_000, loaded: 200_000, candidates: 0 }
  assert.deepEqual(adviseOn(facts({ tail })), [
    "200,000 logs are not indexed yet: the operator should let 'cairn import' or 'cairn reindex' finish",
  ])
  const ms = { ...createLogTrace().facts.ms, tailLoad: 200 }
  assert.deepEqual(adviseOn(facts({ tail: { ...tail, logs: 60_000, loaded: 60_000 }, ms })), [
    '60,000 logs were loaded into memory first; later queries in this thread reuse them',
  ])
  assert.deepEqual(adviseOn(facts({ segments: Array.from({ length: 40 }, () => segment(1)) })), [
    "40 index segments are not merged yet: the operator should let 'cairn import' finish",
  ])
})

test('a range without blocks, or before the first one, is reported', () => {
  assert.deepEqual(adviseOn(facts({ plan: 'none', range: undefined })), ['the range contains no stored block'])
  assert.deepEqual(adviseOn(facts({ outcome: 'unavailable', plan: 'none', firstAvailable: 12, range: undefined })), [
    'the first stored block is 12: set fromBlock to it, or import older blocks',
  ])
})
