import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../../src/chain/eth/types.js'
import { LogsUnavailable, TooManyLogs, TooManyTopics } from '../../../src/index/logs/errors.js'
import type { LogFilter } from '../../../src/index/logs/filter.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { DeadlineExceeded, deadlineAfter, noDeadline } from '../../../src/lib/deadline.js'
import { THOROUGH } from '../../support/thorough.js'
import { asPlaced, expectedMatches, FIRST_BLOCK, randomBlocks, randomFilter, textOf } from './randomFilters.js'
import { numberedBytes, seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'

const FILTERS = THOROUGH ? 2_000 : 600

test('gives what a look at every log gives, in order, for random filters', (t) => {
  const random = seededFractions(1)
  const db = temporaryDatabase(t)
  const blocks = randomBlocks(random, 400)
  const logs = writeLogs(db, FIRST_BLOCK, blocks)
  const source = createLogSource(db)
  const texts = new Map(logs.map((log) => [log, textOf(log)]))
  let results = 0
  let refused = 0
  for (let i = 0; i < FILTERS; i++) {
    const filter = randomFilter(random, blocks.length)
    const maxResults = random() < 0.2 ? Math.floor(random() * 300) : 100_000
    const expected = expectedMatches(logs, filter)
    if (expected.length > maxResults) {
      refused++
      assert.throws(() => source.query(filter, { deadline: noDeadline, maxResults }), TooManyLogs)
    } else {
      const found = source.query(filter, { deadline: noDeadline, maxResults })
      results += found.count
      const foundTexts = asPlaced(found).map(textOf)
      assert.deepEqual(
        foundTexts,
        expected.map((log) => texts.get(log)!),
      )
    }
  }
  // The filters must have met something, or the test says nothing.
  assert.ok(
    logs.length > 1_500 && results > 25 * FILTERS && refused > FILTERS / 40,
    `${logs.length} ${results} ${refused}`,
  )
})

test('meets popular keys with each other, and lists with popular keys, over many logs', (t) => {
  const random = seededFractions(2)
  const db = temporaryDatabase(t)
  // Two contracts by turns of 700 logs; one topic in three logs; rare holders.
  const all: Log[] = Array.from({ length: 30_000 }, (_, i) => ({
    address: numberedBytes(Math.floor(i / 700) % 2, 20),
    topics: [numberedBytes(i % 3, 32), numberedBytes(Math.floor(random() * 300), 32)],
    data: new Uint8Array(0),
  }))
  const blocks = Array.from({ length: 300 }, (_, i) => [all.slice(i * 100, i * 100 + 100)])
  const logs = writeLogs(db, 0, blocks)
  const source = createLogSource(db)
  const range = { fromBlock: 0, toBlock: 299 }
  const holders = (...numbers: number[]) => numbers.map((number) => numberedBytes(number, 32))
  const filters: LogFilter[] = [
    { ...range, addresses: [numberedBytes(1, 20)], topics: [holders(2)] },
    { ...range, addresses: [numberedBytes(0, 20), numberedBytes(1, 20)], topics: [holders(0, 1), holders(7)] },
    {
      ...range,
      addresses: [numberedBytes(1, 20)],
      topics: [null, holders(...Array.from({ length: 200 }, (_, i) => i))],
    },
    { ...range, topics: [holders(0, 1, 2), holders(...Array.from({ length: 299 }, (_, i) => i))] },
    { fromBlock: 31, toBlock: 222, addresses: [numberedBytes(0, 20)], topics: [holders(1)] },
  ]
  for (const filter of filters) {
    const found = source.query(filter, { deadline: noDeadline, maxResults: 100_000 })
    assert.deepEqual(asPlaced(found), expectedMatches(logs, filter))
  }
})

test('serves exactly the limit, and refuses one more', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [numberedBytes(5, 32)], data: new Uint8Array(0) }
  writeLogs(db, 0, [[Array(1_000).fill(log)], [[log]]])
  const source = createLogSource(db)
  const options = { deadline: noDeadline, maxResults: 1_000 }
  const shapes: Partial<LogFilter>[] = [{}, { addresses: [log.address] }, { topics: [log.topics] }, { topics: [null] }]
  for (const shape of shapes) {
    assert.equal(source.query({ fromBlock: 0, toBlock: 0, topics: [], ...shape }, options).count, 1_000)
    assert.throws(() => source.query({ fromBlock: 0, toBlock: 1, topics: [], ...shape }, options), TooManyLogs)
  }
})

test('says which block is the first held when a range begins before it', (t) => {
  const db = temporaryDatabase(t)
  writeLogs(db, FIRST_BLOCK, [[]])
  assert.throws(
    () =>
      createLogSource(db).query({ fromBlock: 7, toBlock: 100, topics: [] }, { deadline: noDeadline, maxResults: 1 }),
    (error) => error instanceof LogsUnavailable && error.firstAvailable === FIRST_BLOCK && error.fromBlock === 7,
  )
})

test('gives nothing from an empty database, and refuses five topic positions', (t) => {
  const source = createLogSource(temporaryDatabase(t))
  const options = { deadline: noDeadline, maxResults: 1 }
  assert.deepEqual(asPlaced(source.query({ fromBlock: 0, toBlock: 9, topics: [] }, options)), [])
  assert.throws(() => source.query({ fromBlock: 0, toBlock: 9, topics: Array(5).fill(null) }, options), TooManyTopics)
})

test('stops at the deadline in every shape of filter', (t) => {
  const db = temporaryDatabase(t)
  const log: Log = { address: numberedBytes(1, 20), topics: [numberedBytes(5, 32)], data: new Uint8Array(0) }
  writeLogs(db, 0, [[Array(1_000).fill(log)]])
  const source = createLogSource(db)
  const passed = { deadline: deadlineAfter(-1), maxResults: 10_000 }
  const shapes: Partial<LogFilter>[] = [
    {},
    { addresses: [log.address] },
    { topics: [null, null] },
    { topics: [log.topics] },
  ]
  for (const shape of shapes) {
    assert.throws(() => source.query({ fromBlock: 0, toBlock: 0, topics: [], ...shape }, passed), DeadlineExceeded)
  }
})
