import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LogFilter, normalizeFilter } from '../../../src/index/logs/filter.js'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { type Deadline, DeadlineExceeded, noDeadline } from '../../../src/lib/deadline.js'
import { formatData } from '../../../src/lib/hex.js'
import { expectedMatches, FIRST_BLOCK, jsonOf, randomBlocks, randomFilter } from './randomFilters.js'
import { numberedBytes, type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'

const BLOCKS = 500

/** A deadline that passes when it is looked at for the n-th time. */
function deadlineOnCheck(n: number): Deadline {
  let checks = 0
  return {
    limitMs: 1,
    remainingMs: () => (checks >= n ? -1 : 1),
    check: () => {
      if (++checks >= n) throw new DeadlineExceeded(1)
    },
  }
}

function prepare(t: Parameters<typeof temporaryDatabase>[0], seed: number) {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(seed), BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  while (indexer.sealNext());
  return { db, logs, source: createLogSource(db) }
}

const whole: Pick<LogFilter, 'fromBlock' | 'toBlock'> = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + BLOCKS - 1 }
const options = { deadline: noDeadline, maxResults: 100_000 }

test('an explanation has the results, the blocks of segments, and counts of values as a look at every log', (t) => {
  const { logs, source } = prepare(t, 51)
  const random = seededFractions(52)
  let counted = 0
  for (let i = 0; i < 120; i++) {
    const filter = normalizeFilter(randomFilter(random, BLOCKS))
    const expected = expectedMatches(logs, filter)
    const { facts, answerBytes, segmentBlocks, values } = source.explain(filter, options)
    const { length } = jsonOf(source.query(filter, options))
    assert.deepEqual([facts.outcome, facts.results, answerBytes], ['answered', expected.length, length])
    assert.equal(segmentBlocks.length, facts.segments.length)
    const covered = facts.segments.flatMap(({ firstLog, logs: n }, s) => {
      const own = logs.slice(firstLog, firstLog + n)
      assert.deepEqual(segmentBlocks[s], { first: own[0].blockNumber, last: own[own.length - 1].blockNumber })
      return own
    })
    if (facts.segments.length === 0) assert.deepEqual(values, [])
    else counted += checkCounts(covered, filter, values!)
  }
  assert.ok(counted > 100, `${counted} clauses`)
})

/** Holds the counts of values against a look at the logs; gives how many clauses there were. */
function checkCounts(
  covered: PlacedLog[],
  { addresses, topics }: LogFilter,
  values: { absent: number; top: { value: string; logs: number }[] }[],
): number {
  const lists = [addresses ?? null, ...topics].map((list, position) => ({ list, position }))
  const named = lists.filter(({ list }) => list !== null)
  assert.equal(values.length, named.length)
  for (const [i, { list, position }] of named.entries()) {
    const counts = new Map(
      list!.map((value) => {
        const own = covered.filter(({ address, topics: own }) => {
          const held = position === 0 ? address : own[position - 1]
          return held !== undefined && equalBytes(held, value)
        })
        return [formatData(value), own.length]
      }),
    )
    const present = Array.from(counts.values()).filter((n) => n > 0)
    assert.equal(values[i].absent, counts.size - present.length)
    const top = values[i].top
    assert.deepEqual(
      top.map(({ logs }) => logs),
      present.sort((a, b) => b - a).slice(0, 5),
    )
    for (const { value, logs } of top) assert.equal(logs, counts.get(value))
  }
  return named.length
}

test('a refusal is an outcome, also when the same query was refused before', (t) => {
  const { source } = prepare(t, 53)
  const filter = { ...whole, topics: [null] }
  const ask = { deadline: noDeadline, maxResults: 100 }
  assert.throws(() => source.query(filter, ask))
  assert.throws(() => source.query(filter, ask))
  const { facts, answerBytes, advice } = source.explain(filter, { ...options, maxResults: 100 })
  assert.deepEqual([facts.outcome, facts.plan, facts.rows.met, answerBytes], ['tooMany', 'index', 101, undefined])
  const block = facts.overflow!.block!
  assert.match(
    advice[0],
    new RegExp(`^more than 100 logs match; the limit is exceeded in block ${block}: set toBlock to ${block - 1}, `),
  )
  const narrower = source.explain({ ...filter, toBlock: block - 1 }, { ...options, maxResults: 100 })
  assert.equal(narrower.facts.outcome, 'answered', 'the advice is right')
})

test('a timeout is an outcome with the facts until then, wherever it comes', (t) => {
  const { source, db } = prepare(t, 54)
  const filter = { ...whole, topics: [[numberedBytes(1, 32), numberedBytes(2, 32)], null] }
  source.query(filter, options) // its tail is in memory from here on
  const plain = source.explain(filter, options)
  const seen = new Set<number>()
  for (let check = 1; ; check++) {
    const { facts, answerBytes, advice, values } = source.explain(filter, {
      ...options,
      deadline: deadlineOnCheck(check),
    })
    if (facts.outcome === 'answered') {
      assert.ok(facts.segments.length === plain.facts.segments.length && check > 10)
      break
    }
    assert.deepEqual([facts.outcome, facts.results, answerBytes], ['timeout', 0, undefined])
    assert.ok(facts.segments.length <= plain.facts.segments.length)
    assert.ok(facts.rows.fetched >= facts.rows.met + facts.rows.rejected)
    assert.ok(advice.some((sentence) => sentence.startsWith('timed out')))
    if (facts.segments.length > 0) assert.equal(values, undefined, 'no time was left to count')
    seen.add(facts.segments.length)
  }
  assert.ok(seen.size > 5, 'it was stopped in several segments')
  const cold = createLogSource(db).explain({ ...filter, topics: [null] }, { ...options, deadline: deadlineOnCheck(1) })
  assert.equal(cold.facts.outcome, 'timeout')
})

test('a range that begins before the first block held is an outcome that names it', (t) => {
  const { source } = prepare(t, 55)
  const { facts, advice } = source.explain({ ...whole, fromBlock: 5, topics: [] }, options)
  assert.deepEqual([facts.outcome, facts.firstAvailable], ['unavailable', FIRST_BLOCK])
  assert.deepEqual(advice, [`the first stored block is ${FIRST_BLOCK}: set fromBlock to it, or import older blocks`])
})

test('an unexpected failure is thrown', (t) => {
  const { source } = prepare(t, 56)
  const broken: Deadline = {
    ...noDeadline,
    check: () => {
      throw new TypeError('broken')
    },
  }
  assert.throws(() => source.explain({ ...whole, topics: [] }, { ...options, deadline: broken }), /broken/)
})
