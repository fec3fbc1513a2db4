import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../../src/sources/upstreams/clock.js'
import { FetchRate } from '../../../src/sync/sparse/fetchRate.js'

/** A clock that passes as long as is slept. */
function createClock(): Clock & { ms: number } {
  const clock = {
    ms: 0,
    nowMs: () => clock.ms,
    unixMs: () => clock.ms,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted()
      clock.ms += ms
    },
  }
  return clock
}

const { signal } = new AbortController()

test('one second of units is free, and more wait for as long as they take', async () => {
  const clock = createClock()
  const rate = new FetchRate(100, clock)
  for (let i = 0; i < 10; i++) await rate.take(10, signal)
  assert.equal(clock.ms, 0)
  for (let i = 0; i < 10; i++) await rate.take(10, signal)
  assert.ok(clock.ms > 850 && clock.ms <= 1_000, `${clock.ms}`)
})

test('work that is larger than a second of units is a debt, which the next one waits for', async () => {
  const clock = createClock()
  const rate = new FetchRate(100, clock)
  await rate.take(1_000, signal)
  assert.equal(clock.ms, 0)
  await rate.take(1, signal)
  assert.ok(clock.ms >= 9_000 && clock.ms < 9_100, `${clock.ms}`)
})

test('units of a time in which nothing was done are not saved', async () => {
  const clock = createClock()
  const rate = new FetchRate(100, clock)
  clock.ms += 60_000
  await rate.take(100, signal)
  await rate.take(1, signal)
  assert.ok(clock.ms > 60_000, `${clock.ms}`)
})

test('what waits for its turn ends with the signal', async () => {
  const clock = createClock()
  const rate = new FetchRate(1, clock)
  await rate.take(100, signal)
  await assert.rejects(rate.take(1, AbortSignal.abort(new Error('the client left'))), /the client left/)
})
