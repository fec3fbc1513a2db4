import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHistogram, createMetrics } from '../../../src/lib/metrics.js'
import { createMetricsPage } from '../../../src/server/admin/metricsPage.js'
import { parseExposition } from '../../support/exposition.js'

test('numbers and histograms are written as Prometheus reads them', async () => {
  const metrics = createMetrics()
  metrics.gauge('size_bytes', 'A size.', () => [[{ name: 'a "quoted" \\ name' }, 1e21]])
  metrics.counter('empty_total', 'Nothing yet.', () => undefined)
  const seconds = createHistogram([0.25, 1])
  for (const value of [0.125, 0.5, 2]) seconds.observe(value)
  metrics.histogram('wait_seconds', 'A time.', () => [[{ method: 'm' }, seconds]])
  const page = createMetricsPage(metrics)
  const text = await page.render()
  const { samples, types } = parseExposition(text)
  assert.match(page.contentType, /^text\/plain; version=0\.0\.4/)
  assert.deepEqual(
    samples
      .filter(({ name }) => name.startsWith('wait_seconds'))
      .map(({ name, labels, value }) => [name, labels.le, value]),
    [
      ['wait_seconds_bucket', '0.25', 1],
      ['wait_seconds_bucket', '1', 2],
      ['wait_seconds_bucket', '+Inf', 3],
      ['wait_seconds_sum', undefined, 2.625],
      ['wait_seconds_count', undefined, 3],
    ],
  )
  assert.ok(text.includes('size_bytes{name="a \\"quoted\\" \\\\ name"} 1e+21\n'))
  assert.equal(types.get('empty_total'), 'counter')
  for (const name of [
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_gc_duration_seconds',
    'process_resident_memory_bytes',
  ]) {
    assert.ok(types.has(name), name)
  }
})

test('what cannot be read is left out and counted, the rest is there', async () => {
  const metrics = createMetrics()
  metrics.gauge('broken', 'Unreadable.', () => {
    throw new Error('the disk is gone')
  })
  metrics.gauge('whole', 'Readable.', () => 5)
  const page = createMetricsPage(metrics)
  const { value, samples } = parseExposition(await page.render())
  assert.equal(value('whole'), 5)
  assert.ok(!samples.some(({ name }) => name === 'broken'))
  assert.equal(metrics.value('cairn_metrics_read_failures_total'), 1)
})

test('requests that come while a page is made share it', async () => {
  const metrics = createMetrics()
  let reads = 0
  metrics.counter('reads_total', 'Reads.', () => ++reads)
  const page = createMetricsPage(metrics)
  const pages = await Promise.all(Array.from({ length: 20 }, () => page.render()))
  assert.equal(new Set(pages).size, 1)
  assert.equal(reads, 1)
})
