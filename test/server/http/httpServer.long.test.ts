import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { createApiKeyTable, openForKeys } from '../../../src/store/keys/apiKeys.js'
import { endOfFile } from '../../support/endings.js'
import { post, request, shareServers, testBothReaders } from '../../support/serving.js'
import { signals } from '../../support/testMethods.js'

const shared = shareServers(endOfFile())
const JSON_TYPE = { 'Content-Type': 'application/json' }

function changeKeys<T>(datadir: string, change: (keys: ReturnType<typeof createApiKeyTable>) => T): T {
  const db = openForKeys(datadir)
  try {
    return change(createApiKeyTable(db))
  } finally {
    db.close()
  }
}

testBothReaders('answers calls, wherever they run', async (_, start) => {
  const { url } = await shared(start)
  const echoed = await post(url, request('test_echo', 'hello', true))
  assert.equal(echoed.status, 200)
  assert.equal(echoed.headers.get('content-type'), 'application/json')
  assert.equal(echoed.text, '{"jsonrpc":"2.0","id":1,"result":"HELLO"}')
  assert.equal(echoed.headers.get('content-length'), String(echoed.text.length))
  assert.equal((await post(`${url}/v3/anything`, request('test_scan', 'a'))).json.result, 'a')
  assert.equal((await post(`${url}/v3/`, request('test_call', 'b'))).json.result, 'b')
  const byName = { jsonrpc: '2.0', id: 1, method: 'test_echo', params: { loud: true, word: 'a' } }
  assert.equal((await post(url, byName)).json.result, 'A')
})

testBothReaders('errors of calls are answered with status 200', async (_, start) => {
  const { url } = await shared(start)
  const errorOf = async (body: unknown) => {
    const { status, json } = await post(url, body)
    return [status, json.id, json.error?.code, json.error?.message]
  }
  assert.deepEqual(await errorOf('{"jsonrpc'), [200, null, -32700, 'parse error'])
  assert.deepEqual(await errorOf(''), [200, null, -32700, 'parse error'])
  assert.deepEqual(await errorOf({ id: 5 }), [200, 5, -32600, 'invalid request'])
  assert.deepEqual(await errorOf([]), [200, null, -32600, 'empty batch'])
  const unknown = 'the method eth_none does not exist/is not available'
  assert.deepEqual(await errorOf(request('eth_none')), [200, 1, -32601, unknown])
  const missing = 'missing value for required argument 0'
  assert.deepEqual(await errorOf(request('test_echo')), [200, 1, -32602, missing])
  assert.deepEqual(await errorOf(request('test_broken')), [200, 1, -32603, 'internal error'])
})

testBothReaders('ids come back as they were sent', async (_, start) => {
  const { url } = await shared(start)
  for (const id of ['9007199254740993', '1.50', '"a\\u00fc"', 'null', '-1']) {
    const { text } = await post(url, `{"jsonrpc":"2.0","id":${id},"method":"test_echo","params":["w"]}`)
    assert.equal(text, `{"jsonrpc":"2.0","id":${id.replace('\\u00fc', 'ü')},"result":"w"}`)
  }
})

testBothReaders('a batch is answered in order, notifications not at all', async (_, start) => {
  const { url } = await shared(start)
  const call = (id: unknown, method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id, method, params })
  const { json, status } = await post(url, [
    call(1, 'test_wait', '0x32'),
    call('b', 'test_echo', 'two'),
    { jsonrpc: '2.0', method: 'test_echo', params: ['unheard'] },
    7,
    call(null, 'test_call', 'four'),
  ])
  assert.equal(status, 200)
  assert.deepEqual(
    json.map(({ id, result, error }) => [id, result ?? error?.code]),
    [
      [1, 'waited 50'],
      ['b', 'two'],
      [null, -32600],
      [null, 'four'],
    ],
  )
  const silent = await post(url, [{ jsonrpc: '2.0', method: 'test_echo', params: ['unheard'] }])
  assert.deepEqual([silent.status, silent.text], [204, ''])
  const alone = await post(url, { jsonrpc: '2.0', method: 'test_echo', params: ['unheard'] })
  assert.deepEqual([alone.status, alone.text], [204, ''])
})

testBothReaders('a long answer goes out whole', async (_, start) => {
  const { url } = await shared(start)
  const { json } = await post(url, request('test_long', '0x1e8480'))
  assert.equal((json.result as string).length, 2_000_000)
  const tooMuch = await post(
    url,
    Array.from({ length: 14 }, () => request('test_long', '0x1e8480')),
  )
  assert.deepEqual(
    tooMuch.json.map(({ result, error }) => (result === undefined ? error?.code : 'whole')),
    [...Array(12).fill('whole'), -32003, -32003],
  )
})

testBothReaders('only JSON is taken, and not compressed', async (_, start) => {
  const { url } = await shared(start)
  const status = async (headers: Record<string, string>) => (await post(url, request('test_echo', 'w'), headers)).status
  assert.equal(await status({ 'Content-Type': 'text/plain' }), 415)
  assert.equal(await status({ 'Content-Type': 'application/jsonp' }), 415)
  assert.equal(await status({ 'Content-Type': 'Application/JSON; charset=utf-8' }), 200)
  assert.equal(await status({ 'Content-Type': 'application/json-rpc' }), 200)
  assert.equal(await status({ 'Content-Type': 'application/jsonrequest' }), 200)
  const body = gzipSync(JSON.stringify(request('test_echo', 'w')))
  const zipped = await fetch(url, { method: 'POST', body, headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } })
  assert.equal(zipped.status, 415)
  assert.equal(((await zipped.json()) as { error: { code: number } }).error.code, -32600)
})

testBothReaders('a body above 5 MB is refused, with and without its length said', async (_, start) => {
  const { url } = await shared(start)
  const fits = JSON.stringify(request('test_echo', 'w'))
  assert.equal((await post(url, fits.padEnd(5_000_000))).status, 200)
  const { status, json } = await post(url, fits.padEnd(5_000_001))
  assert.deepEqual([status, json.error?.code, json.id], [413, -32600, null])
  const chunk = Buffer.alloc(1_000_000, 32)
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(chunk)
      if (++sent === 8) controller.close()
    },
  })
  let sent = 0
  const response = await fetch(url, { method: 'POST', body: stream, headers: JSON_TYPE, duplex: 'half' } as RequestInit)
  assert.equal(response.status, 413)
})

testBothReaders('other verbs are refused with what is allowed', async (_, start) => {
  const { url } = await shared(start)
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/v3/x'],
    ['PUT', '/v3/x'],
    ['DELETE', '/'],
    ['HEAD', '/'],
  ]) {
    const response = await fetch(`${url}${path}`, { method })
    assert.equal(response.status, 405, `${method} ${path}`)
    assert.equal(response.headers.get('allow'), 'POST, OPTIONS')
    const text = await response.text()
    if (method !== 'HEAD') assert.equal(JSON.parse(text).error.code, -32600)
  }
})

testBothReaders('health, readiness and unknown paths', async (t, start) => {
  const server = await start(t, { open: false })
  const { url } = server
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const health = await get('/health')
  assert.equal(health.status, 200)
  assert.equal(health.body.status, 'ok')
  assert.equal(health.body.head, null)
  assert.equal((health.body.threads as { lost: number }).lost, 0)
  assert.match(String(health.body.version), /^\d+\.\d+\.\d+$/)
  await server.warm()
  assert.deepEqual(await get('/ready'), { status: 200, body: { ready: true, problem: null } })
  assert.equal((await get('/none')).status, 404)
  assert.equal((await get('/v4/x', 'POST')).status, 404)
  assert.equal((await fetch(`${url}/health`, { method: 'HEAD' })).status, 200)
})

testBothReaders('without a right key nothing is answered, and a revoked one stops at once', async (t, start) => {
  const { url, datadir, reachable } = await start(t, { open: false })
  assert.equal(reachable, false)
  const ask = async (path: string) => {
    const { status, json } = await post(`${url}${path}`, request('test_echo', 'w'))
    return [status, json.error?.code, json.error?.message ?? json.result]
  }
  const required = [401, -32002, 'API key required in the path']
  assert.deepEqual(await ask('/'), required)
  assert.deepEqual(await ask('/v3'), required)
  assert.deepEqual(await ask('/v3/'), required)
  assert.deepEqual(await ask('/v3/0123'), [401, -32002, 'invalid API key'])
  const { id, key } = changeKeys(datadir, (keys) => keys.create('n'))
  assert.deepEqual(await ask(`/v3/${key}`), [200, undefined, 'w'])
  assert.deepEqual(await ask(`/v3/${key}/`), [200, undefined, 'w'])
  assert.deepEqual(await ask(`/v3/${key}?a=b`), [200, undefined, 'w'])
  assert.deepEqual(await ask(`/v3/${key}/more`), [401, -32002, 'invalid API key'])
  changeKeys(datadir, (keys) => keys.revoke(id))
  assert.deepEqual(await ask(`/v3/${key}`), [401, -32002, 'invalid API key'])
})

testBothReaders('a batch under way stops when its key is revoked', async (t, start) => {
  const { url, datadir } = await start(t, { open: false })
  const { id, key } = changeKeys(datadir, (keys) => keys.create('n'))
  once(signals, 'signal').then(() => changeKeys(datadir, (keys) => keys.revoke(id)))
  const waits = Array.from({ length: 40 }, () => request('test_wait', '0xa'))
  const batch = [request('test_echo', 'first'), request('test_signal', 'now'), ...waits, request('test_echo', 'w')]
  const { json } = await post(`${url}/v3/${key}`, batch)
  assert.equal(json[0].result, 'first')
  assert.deepEqual(json.at(-1)?.error, { code: -32002, message: 'invalid API key' })
})

testBothReaders(
  'a call waits for one call of each other key, not for all that another key has waiting',
  async (t, start) => {
    const { url, datadir, pool } = await start(t, { open: false, inlineCalls: false })
    await pool.ready()
    const [greedy, modest] = changeKeys(datadir, (keys) => [keys.create('greedy').key, keys.create('modest').key])
    const order: string[] = []
    const ask = async (name: string, key: string, body: unknown) => {
      await post(`${url}/v3/${key}`, body)
      order.push(name)
    }
    // Fewer than a batch runs at a time, so that all are on their way when the signal comes.
    const batch = [...Array.from({ length: 15 }, () => request('test_deafCall', '0x32')), request('test_signal', 'on')]
    const first = once(signals, 'signal')
    const batches = [ask('batch', greedy, batch)]
    await first
    const second = once(signals, 'signal')
    batches.push(ask('batch', greedy, batch))
    await second
    await ask('call', modest, request('test_call', 'w'))
    await Promise.all(batches)
    assert.deepEqual(order, ['call', 'batch', 'batch'])
  },
)

testBothReaders('a wrong key is refused before the body has come', async (t, start) => {
  const { url } = await start(t, { open: false })
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write(
    `POST /v3/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{`,
  )
  const [first] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])))
  assert.match(first.toString(), /^HTTP\/1\.1 401 /)
})

testBothReaders('the rate of a key is limited, each item of a batch counted', async (t, start) => {
  const { url, datadir } = await start(t, { open: false, rateLimitRps: 3 })
  const { key } = changeKeys(datadir, (keys) => keys.create('n'))
  const batch = Array.from({ length: 3 }, () => request('test_echo', 'w'))
  assert.equal((await post(`${url}/v3/${key}`, batch)).status, 200)
  const { status, headers, json } = await post(`${url}/v3/${key}`, request('test_echo', 'w'))
  assert.equal(status, 429)
  assert.ok(Number(headers.get('retry-after')) >= 1)
  assert.equal(json.id, 1)
  assert.equal(json.error?.code, -32005)
  assert.equal(json.error?.message, 'request rate exceeded')
  const { current_rps, allowed_rps, backoff_seconds } = json.error!.data as Record<string, number>
  assert.equal(current_rps, 4)
  assert.equal(allowed_rps, 3)
  assert.ok(backoff_seconds > 0 && backoff_seconds <= 1)
  const other = changeKeys(datadir, (keys) => keys.create('other'))
  assert.equal((await post(`${url}/v3/${other.key}`, request('test_echo', 'w'))).status, 200)
})

testBothReaders('web pages may read answers as the operator says', async (t, start) => {
  const { url } = await start(t)
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: { Origin: 'https://a.example', 'Access-Control-Request-Headers': 'content-type,x-own' },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /POST/)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type,x-own')
  assert.equal((await post(url, request('test_echo', 'w'))).headers.get('access-control-allow-origin'), '*')
  const closed = await start(t, { cors: ['https://a.example'] })
  const answer = async (origin: string) =>
    (await post(closed.url, request('test_echo', 'w'), { ...JSON_TYPE, Origin: origin })).headers
  assert.equal((await answer('https://a.example')).get('access-control-allow-origin'), 'https://a.example')
  assert.equal((await answer('https://b.example')).get('access-control-allow-origin'), null)
})

testBothReaders('a stuck call ends at its time, and others are answered meanwhile', async (t, start) => {
  const server = await start(t, {
    limits: { ...DEFAULT_LIMITS, callTimeoutMs: 400 },
  })
  await server.pool.ready()
  const begunMs = performance.now()
  let ended = false
  const stuck = post(server.url, request('test_stuckCall')).finally(() => {
    ended = true
  })
  let answered = 0
  while (!ended) {
    const { json } = await post(server.url, request(answered % 2 === 0 ? 'test_echo' : 'test_scan', 'w'))
    assert.equal(json.result, 'w')
    answered++
  }
  const { json } = await stuck
  assert.deepEqual(json.error, { code: -32000, message: 'execution aborted (timeout = 0.4s)' })
  assert.ok(performance.now() - begunMs >= 400)
  assert.ok(answered > 5, `${answered} were answered meanwhile`)
  assert.equal((await post(server.url, request('test_call', 'next'))).json.result, 'next')
})

testBothReaders('stopping finishes the requests under way', async (t, start) => {
  const server = await start(t)
  await server.pool.ready()
  const running = post(server.url, request('test_wait', '0xc8'))
  await post(server.url, request('test_echo', 'w')) // the first one has arrived by then
  const stopped = server.close()
  assert.equal((await running).json.result, 'waited 200')
  const begunMs = performance.now()
  await stopped
  assert.ok(performance.now() - begunMs < 2000)
  await assert.rejects(post(server.url, request('test_echo', 'w')))
})
