import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHistogram, createMetrics } from '../../src/lib/metrics.js'

test('a metric is read when it is asked for', () => {
  const metrics = createMetrics()
  let size = 1
  metrics.gauge('size_bytes', 'A size.', () => size)
  size = 7
  assert.equal(metrics.value('size_bytes'), 7)
  assert.equal(metrics.value('other_bytes'), undefined)
})

test('registrations under one name are one family', () => {
  const metrics = createMetrics()
  metrics.counter('hits_total', 'Hits.', () => [[{ cache: 'a' }, 2]])
  metrics.counter('hits_total', 'Hits.', () => [
    [{ cache: 'b', kind: 'x' }, 3],
    [{ cache: 'b', kind: 'y' }, 4],
  ])
  metrics.gauge('nothing', 'Nothing yet.', () => undefined)
  assert.deepEqual(
    [...metrics.families()].map(({ name }) => name),
    ['hits_total', 'nothing'],
  )
  assert.equal(metrics.value('hits_total'), 9)
  assert.equal(metrics.value('hits_total', { cache: 'b' }), 7)
  assert.equal(metrics.value('hits_total', { cache: 'b', kind: 'y' }), 4)
  assert.equal(metrics.value('hits_total', { cache: 'c' }), undefined)
  assert.equal(metrics.value('nothing'), undefined)
})

test('a histogram counts each value in the first bucket whose bound is not below it', () => {
  const histogram = createHistogram([1, 10])
  for (const value of [0, 1, 1.5, 10, 11, Number.POSITIVE_INFINITY]) histogram.observe(value)
  assert.deepEqual([...histogram.counts], [2, 2, 2])
  assert.equal(histogram.sum(), Number.POSITIVE_INFINITY)
})
