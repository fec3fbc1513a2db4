import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import type { Clock } from '../../../src/sources/upstreams/clock.js'
import {
  MalformedAnswer,
  UpstreamHttpStatus,
  UpstreamOversized,
  UpstreamThrottled,
  UpstreamTimeout,
  UpstreamUnreachable,
} from '../../../src/sources/upstreams/errors.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from '../../../src/sources/upstreams/types.js'
import { Upstream } from '../../../src/sources/upstreams/upstream.js'

const json = { 'content-type': 'application/json' }
const RIGHT = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'

/** Returns a clock that stands still until the test advances it. */
function createManualClock() {
  let nowMs = 0
  const sleepers: { untilMs: number; resolve(): void }[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    unixMs: () => nowMs,
    sleep: (ms) => new Promise((resolve) => void sleepers.push({ untilMs: nowMs + ms, resolve })),
  }
  const advance = (ms: number) => {
    nowMs += ms
    for (const { untilMs, resolve } of sleepers) if (untilMs <= nowMs) resolve()
  }
  return { clock, advance, sleeping: () => sleepers.length }
}

async function start(
  t: TestContext,
  listener: RequestListener,
  {
    limits,
    clock = createManualClock().clock,
    scheme = 'http',
  }: { limits?: Partial<UpstreamLimits>; clock?: Clock; scheme?: 'http' | 'ws' } = {},
): Promise<Upstream> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const upstream = new Upstream(
    { url: `${scheme}://127.0.0.1:${port}` },
    {
      limits: { ...DEFAULT_UPSTREAM_LIMITS, maxResponseBytes: 10_000, ...limits },
      clock,
      random: () => 0,
      log: silentLogger,
      suffix: '',
    },
  )
  t.after(() => {
    upstream.close()
    server.closeAllConnections()
    server.close()
  })
  return upstream
}

describe('an upstream', () => {
  const failures: [problem: string, kind: new (...args: never[]) => Error, listener: RequestListener][] = [
    ['throttles', UpstreamThrottled, (_, response) => response.writeHead(429).end()],
    ['is too large', UpstreamOversized, (_, response) => response.writeHead(200, json).end('x'.repeat(20_000))],
    ['redirects', UpstreamHttpStatus, (_, response) => response.writeHead(301, { location: 'http://localhost' }).end()],
    ['is HTML', MalformedAnswer, (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(RIGHT)],
    ['is garbage', MalformedAnswer, (_, response) => response.writeHead(200, json).end('{"jsonrpc"')],
    [
      'is cut',
      UpstreamUnreachable,
      (_, response) => response.writeHead(200, json).write('{', () => response.destroy()),
    ],
  ]
  for (const [problem, kind, listener] of failures) {
    it(`whose response ${problem} fails with ${kind.name}`, async (t) => {
      const upstream = await start(t, listener)
      await assert.rejects(upstream.call('eth_chainId', []), kind)
      assert.equal(upstream.health.state, 'failing')
    })
  }

  it('that does not answer in time fails with UpstreamTimeout, and is asked for less', async (t) => {
    const upstream = await start(t, () => {}, { limits: { requestTimeoutMs: 20 } })
    await assert.rejects(upstream.call('eth_chainId', []), UpstreamTimeout)
    assert.deepEqual([upstream.limits.concurrency, upstream.limits.batchSize], [2, 4])
  })

  for (const scheme of ['http', 'ws'] as const) {
    it(`that does not answer is given up with the signal (${scheme})`, { timeout: 10_000 }, async (t) => {
      const giveUp = new AbortController()
      const reason = new Error('given up')
      const upstream = await start(t, () => giveUp.abort(reason), { scheme })
      await assert.rejects(upstream.call('eth_chainId', [], giveUp.signal), reason)
      assert.equal(upstream.health.state, 'ok')
    })
  }

  it('that cannot be reached has its chain compared again', async (t) => {
    const upstream = await start(t, (_, response) => response.destroy())
    upstream.isChecked = true
    await assert.rejects(upstream.call('eth_chainId', []), UpstreamUnreachable)
    assert.equal(upstream.isChecked, false)
  })

  it('gets no request before Retry-After has passed, not even one that waited for its place', async (t) => {
    let requests = 0
    const listener: RequestListener = (_, response) => {
      requests++
      if (requests > 1) response.writeHead(200, json).end(RIGHT)
      else response.writeHead(429, { 'retry-after': '7' }).end()
    }
    const { clock, advance, sleeping } = createManualClock()
    const upstream = await start(t, listener, { limits: { maxConcurrency: 1 }, clock })
    const [first, second] = [upstream.call('eth_chainId', []), upstream.call('eth_chainId', [])]
    await assert.rejects(first, UpstreamThrottled)
    while (sleeping() === 0) await new Promise(setImmediate)
    advance(6999)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    assert.equal(requests, 1)
    advance(1)
    assert.equal(await second, '0x1')
    assert.equal(requests, 2)
  })

  it('asks in batches that shrink when an answer is too large', async (t) => {
    const sizes: number[] = []
    const upstream = await start(t, async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      const parsed = JSON.parse(text)
      const calls: { id: number }[] = Array.isArray(parsed) ? parsed : [parsed]
      sizes.push(calls.length)
      const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: 'x'.repeat(4000) }))
      response.writeHead(200, json).end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
    })
    const calls = Array.from({ length: 10 }, () => ({ method: 'm', params: [] }))
    assert.equal((await upstream.request(calls)).length, 10)
    assert.deepEqual(sizes.slice(0, 3), [8, 4, 2])
    assert.equal(upstream.health.state, 'ok')
  })

  it('keeps its connection between requests', async (t) => {
    const ports = new Set<number | undefined>()
    const upstream = await start(t, (request, response) => {
      ports.add(request.socket.remotePort)
      response.writeHead(200, json).end(RIGHT)
    })
    for (let i = 0; i < 3; i++) await upstream.call('eth_chainId', [])
    assert.equal(ports.size, 1)
  })
})
