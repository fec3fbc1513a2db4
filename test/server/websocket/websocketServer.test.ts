import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { createApiKeyTable, openForKeys } from '../../../src/store/keys/apiKeys.js'
import { type Answer, request, startTestServer } from '../../support/serving.js'
import { signals } from '../../support/testMethods.js'

/** An open socket and the answers that come over it, one after another: an error once it is closed. */
async function open(t: TestContext, url: string, path: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`)
  t.after(() => socket.terminate())
  const queue: string[] = []
  const waiting: { resolve: (text: string) => void; reject: (error: Error) => void }[] = []
  let isClosed = false
  socket.on('message', (data, isBinary) => {
    assert.equal(isBinary, false)
    const next = waiting.shift()
    if (next === undefined) queue.push(String(data))
    else next.resolve(String(data))
  })
  socket.on('close', (code) => {
    isClosed = true
    for (const { reject } of waiting.splice(0)) reject(new Error(`closed with ${code}`))
  })
  await once(socket, 'open')
  const text = async () => {
    if (queue.length > 0) return queue.shift()!
    if (isClosed) throw new Error('is closed')
    return new Promise<string>((resolve, reject) => void waiting.push({ resolve, reject }))
  }
  return {
    socket,
    text,
    send: (body: unknown) => socket.send(typeof body === 'string' ? body : JSON.stringify(body)),
    next: async () => JSON.parse(await text()) as Answer & Answer[],
  }
}

/** The status and body with which a handshake is refused. */
async function refusal(url: string, path: string): Promise<[number, string]> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`)
  const [, response] = await once(socket, 'unexpected-response')
  let body = ''
  for await (const chunk of response) body += chunk
  return [response.statusCode, body]
}

function changeKeys<T>(datadir: string, change: (keys: ReturnType<typeof createApiKeyTable>) => T): T {
  const db = openForKeys(datadir)
  try {
    return change(createApiKeyTable(db))
  } finally {
    db.close()
  }
}

test('the same envelope rules hold for every message', async (t) => {
  const { url } = await startTestServer(t)
  for (const path of ['/', '/ws', '/ws/v3', '/ws/v3/anything']) {
    const { send, next, text } = await open(t, url, path)
    send(request('test_echo', 'hello'))
    assert.deepEqual(await next(), { jsonrpc: '2.0', id: 1, result: 'hello' })
    send('nonsense')
    assert.equal((await next()).error?.code, -32700)
    send([request('test_echo', 'a'), request('test_scan', 'b'), 5])
    assert.deepEqual(
      (await next()).map(({ result, error }) => result ?? error?.code),
      ['a', 'b', -32600],
    )
    send('{"jsonrpc":"2.0","id":9007199254740993,"method":"test_echo","params":["w"]}')
    assert.equal(await text(), '{"jsonrpc":"2.0","id":9007199254740993,"result":"w"}')
  }
})

test('answers come when they are there, and notifications have none', async (t) => {
  const { url, pool } = await startTestServer(t)
  await pool.ready()
  const { send, next } = await open(t, url, '/ws/v3/x')
  send({ jsonrpc: '2.0', id: 'slow', method: 'test_wait', params: ['0x64'] })
  send({ jsonrpc: '2.0', method: 'test_echo', params: ['unheard'] })
  send({ jsonrpc: '2.0', id: 'fast', method: 'test_echo', params: ['w'] })
  assert.equal((await next()).id, 'fast')
  assert.equal((await next()).id, 'slow')
})

test('a message above 5 MB closes the socket', async (t) => {
  const { url } = await startTestServer(t)
  const { socket, send, next } = await open(t, url, '/ws/v3/x')
  send(JSON.stringify(request('test_echo', 'w')).padEnd(5_000_000))
  assert.equal((await next()).result, 'w')
  send(' '.repeat(5_000_001))
  const [code] = await once(socket, 'close')
  assert.equal(code, 1009)
})

test('a handshake without a right key is refused with 401, of another path with 404', async (t) => {
  const { url } = await startTestServer(t, { open: false })
  const [status, body] = await refusal(url, '/ws/v3/')
  assert.equal(status, 401)
  assert.deepEqual(JSON.parse(body).error, { code: -32002, message: 'API key required in the path' })
  assert.match((await refusal(url, '/ws/v3/123'))[1], /invalid API key/)
  assert.equal((await refusal(url, '/'))[0], 401)
  assert.equal((await refusal(url, '/other'))[0], 404)
})

test('a revoked key closes its open sockets, whether they speak or not', async (t) => {
  const { url, datadir } = await startTestServer(t, { open: false })
  const { id, key } = changeKeys(datadir, (keys) => keys.create('n'))
  const other = changeKeys(datadir, (keys) => keys.create('other'))
  const speaking = await open(t, url, `/ws/v3/${key}`)
  const silent = await open(t, url, `/ws/v3/${key}`)
  const staying = await open(t, url, `/ws/v3/${other.key}`)
  speaking.send(request('test_echo', 'w'))
  assert.equal((await speaking.next()).result, 'w')
  changeKeys(datadir, (keys) => keys.revoke(id))
  const start = performance.now()
  const closed = Promise.all([once(speaking.socket, 'close'), once(silent.socket, 'close')])
  speaking.send(request('test_echo', 'w'))
  // Answered, unless the server looked at the keys in the moment between.
  const answer = await speaking.next().catch(() => undefined)
  if (answer !== undefined) assert.equal(answer.error?.code, -32002)
  for (const [code] of await closed) assert.equal(code, 1008)
  assert.ok(performance.now() - start < 1500)
  staying.send(request('test_echo', 'still'))
  assert.equal((await staying.next()).result, 'still')
})

test('nothing more of a batch runs once its key is revoked', async (t) => {
  const { url, datadir } = await startTestServer(t, { open: false })
  const { id, key } = changeKeys(datadir, (keys) => keys.create('n'))
  const { socket, send } = await open(t, url, `/ws/v3/${key}`)
  const words: string[] = []
  signals.on('signal', (word: string) => {
    words.push(word)
    if (word === 'first') changeKeys(datadir, (keys) => keys.revoke(id))
  })
  t.after(() => signals.removeAllListeners('signal'))
  const waits = Array.from({ length: 40 }, () => request('test_wait', '0xa'))
  const closed = once(socket, 'close')
  send([request('test_signal', 'first'), ...waits, request('test_signal', 'last')])
  assert.equal((await closed)[0], 1008)
  assert.deepEqual(words, ['first'])
})

test('the answer reports the rate limit', async (t) => {
  const { url, datadir } = await startTestServer(t, { open: false, rateLimitRps: 2 })
  const { key } = changeKeys(datadir, (keys) => keys.create('n'))
  const { send, next } = await open(t, url, `/ws/v3/${key}`)
  send([request('test_echo', 'a'), request('test_echo', 'b')])
  assert.equal((await next()).length, 2)
  send(request('test_echo', 'c'))
  const { id, error } = await next()
  assert.deepEqual([id, error?.code, error?.message], [1, -32005, 'request rate exceeded'])
})

test('a peer that takes its answers late gets them all, in order', async (t) => {
  const { url } = await startTestServer(t)
  const { socket, send, next } = await open(t, url, '/ws/v3/x')
  socket.pause()
  for (let i = 0; i < 60; i++) send({ jsonrpc: '2.0', id: i, method: 'test_long', params: ['0xf4240'] })
  socket.resume()
  for (let i = 0; i < 60; i++) {
    const { id, result } = await next()
    assert.equal(id, i)
    assert.equal((result as string).length, 1_000_000)
  }
})

test('stopping answers what is under way and says goodbye', async (t) => {
  const server = await startTestServer(t)
  await server.pool.ready()
  const { socket, send, next } = await open(t, server.url, '/ws/v3/x')
  send(request('test_wait', '0x96'))
  send({ jsonrpc: '2.0', id: 'arrived', method: 'test_echo', params: ['w'] })
  assert.equal((await next()).id, 'arrived')
  const closed = once(socket, 'close')
  const stopped = server.close()
  assert.equal((await next()).result, 'waited 150')
  assert.equal((await closed)[0], 1001)
  await stopped
})
