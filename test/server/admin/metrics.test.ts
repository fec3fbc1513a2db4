import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { DEFAULT_SERVER_LIMITS } from '../../../src/server/admission/limits.js'
import { type Exposition, parseExposition } from '../../support/exposition.js'
import { openRaw } from '../../support/rawHttp.js'
import { post, request, startTestServer } from '../../support/serving.js'

const ON_RPC_PORT = { onRpcPort: true, ownPort: undefined }
const OWN_PORT = { onRpcPort: false, ownPort: { host: '127.0.0.1', port: 0, hosts: [] } }

/** The page once it is as `isDone` says: a page that was just made is given again for some milliseconds. */
async function scrape(url: string, isDone: (page: Exposition) => boolean = () => true): Promise<Exposition> {
  for (;;) {
    const response = await fetch(url)
    assert.equal(response.status, 200)
    const page = parseExposition(await response.text())
    if (isDone(page)) return page
  }
}

async function askBySocket(t: TestContext, url: string, messages: readonly unknown[]): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/v3/any`)
  t.after(() => socket.terminate())
  await once(socket, 'open')
  for (const message of messages) {
    socket.send(JSON.stringify(message))
    await once(socket, 'message')
  }
  return socket
}

test('metrics are not served unless they are asked for', async (t) => {
  const { url, metricsUrl } = await startTestServer(t)
  assert.equal(metricsUrl, undefined)
  const response = await fetch(`${url}/metrics`)
  assert.equal(response.status, 404)
  assert.deepEqual(await response.json(), { error: 'not found; calls go to POST /v3/<API_KEY>' })
})

test('calls over HTTP and WebSocket are counted by method and outcome', async (t) => {
  const { url, pool } = await startTestServer(t, { metrics: ON_RPC_PORT, responseCacheBytes: 1_000_000 })
  await pool.ready()
  await post(url, request('test_echo', 'a'))
  await post(url, request('test_echo'))
  await post(url, [request('test_echo', 'b'), request('test_scan', 'c'), 7, request('eth_none')])
  await post(url, '{"jsonrpc')
  await post(url, request('test_broken'))
  await post(url, request('test_echo', 'd'), { 'Content-Type': 'text/plain' })
  await askBySocket(t, url, [request('test_call', 'e'), request('test_echo', 'f')])

  const rpc = 'cairn_rpc_requests_total'
  const { value, samples } = await scrape(`${url}/metrics`)
  const counts = samples
    .filter(({ name }) => name === rpc)
    .map(({ labels, value: n }) => [labels.method, labels.outcome, n])
  assert.deepEqual(counts.sort(), [
    ['invalid', 'invalid_request', 1],
    ['invalid', 'parse_error', 1],
    ['test_broken', 'internal_error', 1],
    ['test_call', 'ok', 1],
    ['test_echo', 'invalid_params', 1],
    ['test_echo', 'ok', 3],
    ['test_scan', 'ok', 1],
    ['unknown', 'method_not_found', 1],
  ])
  assert.equal(value('cairn_rpc_duration_seconds_count', { method: 'test_echo' }), 4)
  assert.ok(value('cairn_rpc_duration_seconds_sum', { method: 'test_scan' })! > 0)
  assert.equal(value('cairn_requests_refused_total', { reason: 'bad_type' }), 1)
  assert.equal(value('cairn_websocket_peers'), 1)
  assert.equal(value('cairn_websocket_messages_total'), 2)
  assert.equal(value('cairn_connections', { kind: 'websocket' }), 1)
  assert.equal(value('cairn_threads'), 4)
  assert.equal(value('cairn_threads', { class: 'scan', state: 'idle' }), 1)
  assert.equal(value('cairn_queue_requests'), 0)
  assert.equal(value('cairn_cache_limit_bytes', { cache: 'responses' }), 1_000_000)
  assert.equal(value('cairn_memory_budget_limit_bytes', { budget: 'bodies' }), DEFAULT_SERVER_LIMITS.bodyBytes)
  assert.ok(value('cairn_database_bytes', { file: 'db' })! > 0)
  assert.ok(value('cairn_network_received_bytes_total')! > 500)
  assert.ok(value('cairn_network_sent_bytes_total')! > 500)
})

test('connections are counted by who reads them, also those that were refused or closed for others', async (t) => {
  const serverLimits = { ...DEFAULT_SERVER_LIMITS, maxConnections: 2 }
  const { url, metricsUrl } = await startTestServer(t, { metrics: OWN_PORT, serverLimits })
  const call = '{"jsonrpc":"2.0","id":1,"method":"test_echo","params":["a"]}'
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${call.length}\r\n`
  const plain = await openRaw(t, url)
  plain.socket.write(`${head}\r\n${call}`)
  await plain.next()
  const other = await openRaw(t, url)
  other.socket.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await other.next()
  const before = await scrape(metricsUrl!)
  assert.deepEqual(
    ['plain', 'http', 'websocket'].map((kind) => before.value('cairn_connections', { kind })),
    [1, 1, 0],
  )
  assert.equal(before.value('cairn_connections_limit'), 2)
  const third = await openRaw(t, url)
  third.socket.write(`${head}\r\n${call}`)
  assert.equal((await third.next())?.status, 200)
  assert.equal(await plain.next(), undefined) // idle for longest
  const after = await scrape(metricsUrl!, ({ value }) => value('cairn_connections_accepted_total') === 3)
  assert.equal(after.value('cairn_connections'), 2)
  assert.equal(after.value('cairn_connections_evicted_total'), 1)
  assert.equal(after.value('cairn_connections_refused_total'), 0)
})

test('clients cannot add series: 10,000 unknown methods are one', async (t) => {
  const { url } = await startTestServer(t, { metrics: ON_RPC_PORT })
  for (let i = 0; i < 10; i++) {
    const names = Array.from({ length: 1000 }, (_, j) => `eth_${i * 1000 + j}`)
    await post(
      url,
      [...names.slice(3), 'constructor', '__proto__', 'unknown'].map((name) => request(name)),
    )
  }
  const rpc = { method: 'unknown', outcome: 'method_not_found' }
  const { value, samples } = await scrape(`${url}/metrics`)
  assert.equal(value('cairn_rpc_requests_total', rpc), 10_000)
  assert.equal(samples.filter(({ name }) => name === 'cairn_rpc_requests_total').length, 1)
  assert.ok(samples.length < 300, `${samples.length} samples`)
})

test('a port of its own serves metrics, health and nothing else, and the port for calls has no metrics', async (t) => {
  const { url, metricsUrl } = await startTestServer(t, { metrics: OWN_PORT, open: false })
  assert.equal((await fetch(`${url}/metrics`)).status, 404)
  assert.equal((await scrape(metricsUrl!)).value('cairn_ready') !== undefined, true)
  const at = (path: string) => new URL(path, metricsUrl).href
  assert.equal((await fetch(at('/health'))).status, 200)
  const other = await post(at('/'), request('test_echo', 'a'))
  assert.deepEqual(
    [other.status, other.text],
    [404, '{"error":"not found; this port serves /metrics, /health and /ready"}'],
  )
})

test('metrics are served without a key, and not to a name that was made to resolve to this machine', async (t) => {
  const { url, metricsUrl } = await startTestServer(t, { metrics: { ...OWN_PORT, onRpcPort: true }, open: false })
  for (const each of [`${url}/metrics`, metricsUrl!]) {
    const { socket, next } = await openRaw(t, each)
    socket.write('GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n')
    assert.equal((await next())?.status, 403, each)
    assert.ok((await scrape(each)).value('cairn_info')! === 1)
  }
})
