import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAdaptiveLimits } from '../../../src/sources/upstreams/adaptiveLimits.js'
import { createBlockTime } from '../../../src/sources/upstreams/blockTime.js'
import { Health } from '../../../src/sources/upstreams/health.js'
import { parseRetryAfter } from '../../../src/sources/upstreams/retryAfter.js'
import { fixtureBlocks } from '../../support/chains/fixture.js'

describe('adaptive limits', () => {
  it('rise by one after a round of successes, and are halved once for the requests of one time', () => {
    let nowMs = 0
    const limits = createAdaptiveLimits(16, 64, () => nowMs)
    assert.deepEqual([limits.concurrency, limits.batchSize], [4, 8])
    for (let i = 0; i < 4; i++) limits.succeeded(8)
    assert.deepEqual([limits.concurrency, limits.batchSize], [5, 9])
    for (let i = 0; i < 5; i++) limits.succeeded(3)
    assert.deepEqual([limits.concurrency, limits.batchSize], [6, 9], 'a batch that was not full says nothing')
    nowMs = 10
    limits.overloaded(5)
    limits.overloaded(7)
    assert.deepEqual([limits.concurrency, limits.batchSize], [3, 4])
    nowMs = 20
    for (let sent = 11; sent < 20; sent++) limits.overloaded(sent) // each before the halving before it
    assert.deepEqual([limits.concurrency, limits.batchSize], [1, 2])
    for (let i = 0; i < 10_000; i++) limits.succeeded(64)
    assert.deepEqual([limits.concurrency, limits.batchSize], [16, 64])
    limits.forbidBatches()
    for (let i = 0; i < 100; i++) limits.succeeded(1)
    assert.equal(limits.batchSize, 1)
  })

  it('let up to the limit of requests run at a time, and drop one that gives up', async () => {
    const limits = createAdaptiveLimits(2, 1, () => 0)
    const releases = [await limits.acquire(), await limits.acquire()]
    const gaveUp = new AbortController()
    const third = limits.acquire(gaveUp.signal)
    let started = false
    const fourth = limits.acquire().then((release) => {
      started = true
      return release
    })
    gaveUp.abort(new Error('gave up'))
    await assert.rejects(third, /gave up/)
    assert.equal(started, false)
    releases[0]()
    releases[0]() // a second release of one place frees nothing
    await fourth
    assert.equal(limits.inFlight, 2)
  })

  it('give the slot of a request that hangs to others, and never send more than the maximum', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let nowMs = 0
    const limits = createAdaptiveLimits(3, 1, () => nowMs)
    nowMs = 1
    limits.overloaded(0)
    assert.equal(limits.concurrency, 1)
    const releases: (() => void)[] = []
    for (let i = 0; i < 5; i++) void limits.acquire().then((release) => releases.push(release))
    const startedAfter = async (ms: number) => {
      nowMs += ms
      t.mock.timers.tick(ms)
      await Promise.resolve()
      return releases.length
    }
    assert.deepEqual([await startedAfter(0), await startedAfter(1_999), await startedAfter(1)], [1, 1, 2])
    assert.deepEqual([await startedAfter(1_999), await startedAfter(1), await startedAfter(60_000)], [2, 3, 3])
    releases[0]()
    assert.equal(await startedAfter(0), 4)
    // One that ends gives its slot at once.
    for (const i of [3, 1]) releases[i]()
    assert.equal(await startedAfter(0), 5)
  })

  it('await a request for a second, whatever was sent and ended since', async () => {
    let nowMs = 5000
    const limits = createAdaptiveLimits(4, 1, () => nowMs)
    assert.equal(limits.isAwaited, false)
    const hangs = await limits.acquire()
    nowMs += 999
    assert.equal(limits.isAwaited, true)
    nowMs += 1
    assert.equal(limits.isAwaited, false)
    const ends = await limits.acquire()
    assert.equal(limits.isAwaited, true)
    ends()
    assert.deepEqual([limits.isAwaited, limits.inFlight], [false, 1])
    hangs()
  })
})

describe('health', () => {
  it('opens the circuit breaker for longer with each failure, up to 30 s, with jitter', () => {
    let nowMs = 0
    let random = 0
    const health = new Health(
      () => nowMs,
      () => random,
    )
    const backoffs: number[] = []
    for (let i = 0; i < 12; i++) {
      nowMs = Math.max(nowMs, health.availableAtMs) + 1
      backoffs.push(health.failed(nowMs))
    }
    assert.deepEqual(backoffs, [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000, 15_000])
    assert.equal(health.state, 'failing')
    assert.equal(health.failed(nowMs - 1), 15_000, 'what was sent before the breaker opened counts once')
    assert.equal(health.failures, 12)
    health.succeeded(20)
    assert.equal(health.state, 'ok')
    nowMs += 20_000
    random = 0.999
    assert.ok(health.failed(nowMs) > 99)
  })

  it('quarantines for longer with each invalid response, and pauses as asked', () => {
    let nowMs = 0
    const health = new Health(
      () => nowMs,
      () => 0,
    )
    assert.equal(health.quarantine(), 30_000)
    assert.equal(health.state, 'quarantined')
    health.succeeded(1)
    assert.equal(health.availableAtMs, 30_000, 'a right answer does not end it')
    nowMs = 30_001
    assert.equal(health.quarantine(), 60_000)
    for (let i = 0; i < 20; i++) {
      nowMs = health.availableAtMs
      health.quarantine()
    }
    assert.equal(health.availableAtMs - nowMs, 3 * 3_600_000)
    nowMs = health.availableAtMs
    health.pause(500)
    assert.equal(health.availableAtMs, nowMs + 500)
    nowMs += 500
    assert.deepEqual([health.refuse(), health.refuse()], [5000, 10_000])
    assert.deepEqual([health.state, health.availableAtMs], ['refused', nowMs + 10_000])
    nowMs += 10_000
    assert.notEqual(health.state, 'refused')
  })

  it('costs more after failures than a slower upstream that works', () => {
    const [fast, slow] = [0, 1].map(
      () =>
        new Health(
          () => 0,
          () => 0,
        ),
    )
    fast.succeeded(10)
    slow.succeeded(60)
    assert.ok(fast.cost < slow.cost)
    for (let i = 0; i < 3; i++) fast.failed(i)
    assert.ok(fast.cost > slow.cost)
  })
})

describe('Retry-After', () => {
  it('is read as seconds or as a date, and bounded', () => {
    const unixMs = Date.parse('2026-01-02T03:04:05Z')
    assert.equal(parseRetryAfter('7', unixMs), 7000)
    assert.equal(parseRetryAfter('Fri, 02 Jan 2026 03:04:15 GMT', unixMs), 10_000)
    assert.equal(parseRetryAfter('Fri, 02 Jan 2026 03:00:00 GMT', unixMs), 0)
    assert.equal(parseRetryAfter('31536000', unixMs), 300_000)
    assert.equal(parseRetryAfter('soon', unixMs), undefined)
    assert.equal(parseRetryAfter(undefined, unixMs), undefined)
  })
})

describe('block time', () => {
  const [{ header }] = fixtureBlocks()
  const pollAfter = (gaps: readonly [seconds: number, arrivedMs: number, blocks?: number][]) => {
    const blockTime = createBlockTime()
    let [timestamp, arrivedMs, number] = [header.timestamp, 0, 100]
    blockTime.add({ ...header, timestamp, number }, arrivedMs)
    for (const [seconds, ms, blocks = 1] of gaps) {
      timestamp += BigInt(seconds)
      arrivedMs += ms
      number += blocks
      blockTime.add({ ...header, timestamp, number }, arrivedMs)
    }
    return blockTime.pollMs
  }
  const times = <T>(count: number, item: T) => new Array<T>(count).fill(item)

  it('is asked for four times per block, between 100 ms and 12 s', () => {
    assert.equal(pollAfter([]), 1000)
    assert.equal(pollAfter(times(5, [12, 12_000])), 3000)
    assert.equal(pollAfter(times(5, [3600, 3_600_000])), 12_000)
    assert.equal(pollAfter(times(5, [0, 50])), 100)
  })

  it('comes from medians: a missed slot and a burst of old blocks do not move it', () => {
    assert.equal(pollAfter([...times(6, [12, 12_000] as [number, number]), [36, 36_000], [12, 5]]), 3000)
    assert.equal(pollAfter(times(5, [24, 24_000, 2])), 3000)
  })
})
