import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooManyTopics } from '../../../src/index/logs/errors.js'
import { countFilterParams, type LogFilter, normalizeFilter } from '../../../src/index/logs/filter.js'
import { matchesFilter } from '../../support/compare/matchesFilter.js'
import { numberedBytes } from './randomLogs.js'

const topic = (number: number) => numberedBytes(number, 32)
const log = { address: numberedBytes(1, 20), topics: [topic(1), topic(2)], data: new Uint8Array(0) }
const filter = (parts: Partial<LogFilter>): LogFilter => ({ fromBlock: 0, toBlock: 0, topics: [], ...parts })

test('wants every log when nothing is named', () => {
  assert.equal(matchesFilter(log, filter({})), true)
  assert.equal(matchesFilter(log, filter({ addresses: [], topics: [[], null] })), true)
})

test('wants one of the addresses and one of the values of each position', () => {
  assert.equal(matchesFilter(log, filter({ addresses: [numberedBytes(2, 20), log.address] })), true)
  assert.equal(matchesFilter(log, filter({ addresses: [numberedBytes(2, 20)] })), false)
  assert.equal(matchesFilter(log, filter({ topics: [null, [topic(7), topic(2)]] })), true)
  assert.equal(matchesFilter(log, filter({ topics: [[topic(2)]] })), false)
})

test('wants as many topics as there are positions', () => {
  assert.equal(matchesFilter(log, filter({ topics: [null, null] })), true)
  assert.equal(matchesFilter(log, filter({ topics: [null, null, null] })), false)
  assert.equal(matchesFilter(log, filter({ topics: [[], [], []] })), false)
})

test('drops repeated values and empty lists', () => {
  const normal = normalizeFilter(filter({ addresses: [], topics: [[topic(1), topic(1), topic(2)], []] }))
  assert.equal(normal.addresses, undefined)
  assert.deepEqual(normal.topics, [[topic(1), topic(2)], null])
})

test('counts addresses and topic values together, repeated ones too', () => {
  assert.equal(countFilterParams(filter({ addresses: [log.address], topics: [null, [topic(1), topic(1)]] })), 3)
})

test('refuses more positions than a log has topics', () => {
  assert.throws(() => normalizeFilter(filter({ topics: [null, null, null, null, null] })), TooManyTopics)
})
