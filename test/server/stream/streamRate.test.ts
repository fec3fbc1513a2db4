import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callPathOfStream } from '../../../src/server/stream/streamPath.js'
import { createStreamRate } from '../../../src/server/stream/streamRate.js'

test('bytes beyond a second of the rate make their owner wait, whichever of its streams sent them', () => {
  let nowMs = 0
  const rate = createStreamRate(1_000, () => nowMs)
  assert.equal(rate.count(1, 1_000), 0)
  assert.equal(rate.count(1, 500), 500)
  assert.equal(rate.count('127.0.0.1', 900), 0)
  nowMs = 400
  assert.equal(rate.count(1, 100), 200)
  nowMs = 10_000
  assert.equal(rate.count(1, 1_500), 500)
  assert.equal(createStreamRate(0).count(1, 1e12), 0)
})

test('the path of a stream follows that of calls', () => {
  const paths = ['/v3/abc/stream', '/v3/abc/stream/', '/v3/abc/stream?x=1', '/v3/stream', '/stream']
  assert.deepEqual(paths.map(callPathOfStream), ['/v3/abc', '/v3/abc', '/v3/abc', '/v3', '/'])
  for (const path of ['/v3/abc', '/v3/a/b/stream', '/v3/abc/streams', '/sql/stream', '/abc/stream', '/']) {
    assert.equal(callPathOfStream(path), undefined, path)
  }
})
