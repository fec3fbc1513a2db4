import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { createLogSlices, type LogCondition, type SliceBudget } from '../../../src/index/logs/logSlices.js'
import { DeadlineExceeded, deadlineAfter, noDeadline } from '../../../src/lib/deadline.js'
import { createCommitWatch } from '../../../src/store/commitWatch.js'
import type { Database } from '../../../src/store/database.js'
import { matchesFilter } from '../../support/compare/matchesFilter.js'
import { THOROUGH } from '../../support/thorough.js'
import { FIRST_BLOCK, randomBlocks, randomFilter, textOf } from './randomFilters.js'
import { numberedBytes, type PlacedLog, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'
import { readColumns } from './readColumns.js'

const WHOLE: SliceBudget = {
  rows: Number.POSITIVE_INFINITY,
  sizeBytes: Number.POSITIVE_INFINITY,
  ends: noDeadline,
  deadline: noDeadline,
}
const FILTERS = THOROUGH ? 2_000 : 100

/** All slices of a range: their logs, and the last block of each. */
function readAll(
  db: Database,
  conditions: readonly LogCondition[],
  { from, to, budget }: { from: number; to: number; budget: SliceBudget },
) {
  const slices = createLogSlices(db, createCommitWatch(db))
  const logs: PlacedLog[] = []
  const ends: number[] = []
  for (let next = from; next <= to; next = ends[ends.length - 1] + 1) {
    const slice = slices.read(conditions, { from: next, to }, budget)
    assert.ok(slice.to >= next && slice.to <= to, `${next} ${slice.to}`)
    const own = readColumns(slice.logs)
    assert.ok(own.every(({ blockNumber }) => blockNumber >= next && blockNumber <= slice.to))
    logs.push(...own)
    ends.push(slice.to)
  }
  return { logs, ends }
}

for (const sealed of [false, true]) {
  test(`slices of random filters are what a look at every log gives, ${sealed ? 'from segments' : 'unsealed'}`, (t) => {
    const random = seededFractions(61)
    const db = temporaryDatabase(t)
    const blocks = randomBlocks(random, 300)
    const logs = writeLogs(db, FIRST_BLOCK, blocks)
    if (sealed) {
      const indexer = createLogIndexer(db, { chunkBits: 6 })
      indexer.add([])
      while (indexer.sealNext());
    }
    let results = 0
    for (let i = 0; i < FILTERS; i++) {
      const filters = Array.from({ length: random() < 0.6 ? 1 : 1 + Math.floor(random() * 4) }, () =>
        randomFilter(random, blocks.length),
      )
      const [{ fromBlock: from, toBlock: to }] = filters
      const rows = random() < 0.3 ? Number.POSITIVE_INFINITY : Math.floor(random() * 200)
      const ends = random() < 0.2 ? deadlineAfter(0) : noDeadline
      const found = readAll(db, filters, { from, to, budget: { ...WHOLE, rows, ends } })
      const inRange = logs.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
      const expected = inRange.filter((log) => filters.some((filter) => matchesFilter(log, filter)))
      assert.ok(found.logs.map(textOf).join() === expected.map(textOf).join(), `filter ${i}`)
      results += expected.length
    }
    assert.ok(results > 20 * FILTERS, `${results}`)
  })
}

test('a slice ends with the block in which its budget is spent', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [], data: new Uint8Array(100) }
  writeLogs(db, 0, [[Array(1_900).fill(log)], [], [[log]], [Array(2_000).fill(log)], [[log]]])
  const ends = (budget: Partial<SliceBudget>) =>
    readAll(db, [{ topics: [] }], { from: 0, to: 4, budget: { ...WHOLE, ...budget } }).ends
  assert.deepEqual(ends({}), [4])
  assert.deepEqual(ends({ rows: 1 }), [0, 3, 4])
  assert.deepEqual(ends({ rows: 1_950 }), [3, 4])
  assert.deepEqual(ends({ sizeBytes: 10 }), [0, 3, 4])
  assert.deepEqual(ends({ ends: deadlineAfter(0) }), [0, 3, 4])
  const late = { ...WHOLE, deadline: deadlineAfter(-1) }
  assert.throws(() => readAll(db, [{ topics: [] }], { from: 0, to: 4, budget: late }), DeadlineExceeded)
})

test('logs with long data are read a few at a time', (t) => {
  const db = temporaryDatabase(t)
  const long = (byte: number): Log => ({
    address: numberedBytes(byte, 20),
    topics: [numberedBytes(7, 32)],
    data: new Uint8Array(1_500_000).fill(byte),
  })
  const logs = writeLogs(db, 0, [[[long(1), long(2), long(3)]], [[long(4)], [long(5), long(6)]]])
  for (const conditions of [
    [{ topics: [] }],
    [{ topics: [[numberedBytes(7, 32)]] }],
    [{ topics: [] }, { topics: [null] }],
  ]) {
    const found = readAll(db, conditions, { from: 0, to: 1, budget: WHOLE })
    assert.deepEqual(found.logs.map(textOf), logs.map(textOf))
  }
})

test('a filter for values that were never logged finds nothing at once', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(62), 50))
  const unknown = { addresses: [numberedBytes(9_999, 20)], topics: [] }
  const found = readAll(db, [unknown], { from: FIRST_BLOCK, to: FIRST_BLOCK + 49, budget: { ...WHOLE, rows: 1 } })
  assert.deepEqual(found, { logs: [], ends: [FIRST_BLOCK + 49] })
})
