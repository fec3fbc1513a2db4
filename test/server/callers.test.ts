import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { createApiKeyTable, openForKeys } from '../../src/store/keys/apiKeys.js'
import { openRaw, type RawAnswer } from '../support/rawHttp.js'
import { post, request, startTestServer } from '../support/serving.js'

/* Who may ask: pages of other sites, names that were made to resolve to this machine, and clients that guess keys. */

const JSON_TYPE = { 'Content-Type': 'application/json' }
const CALL = JSON.stringify(request('test_echo', 'w'))

/** The status with which a handshake is answered, and the body of a refusal. */
async function handshake(url: string, path: string, headers: Record<string, string>): Promise<[number, string]> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  const opened = once(socket, 'open').then((): [number, string] => [101, ''])
  const refused = once(socket, 'unexpected-response').then(async ([, response]): Promise<[number, string]> => {
    let body = ''
    for await (const chunk of response) body += chunk
    return [response.statusCode, body]
  })
  socket.on('error', () => {})
  const outcome = await Promise.race([opened, refused])
  socket.terminate()
  return outcome
}

/** The answer to one request with these headers on a connection of its own. */
async function rawRequest(
  t: Parameters<typeof openRaw>[0],
  url: string,
  { line = 'POST / HTTP/1.1', headers, body }: { line?: string; headers: readonly string[]; body: string },
): Promise<RawAnswer> {
  const { socket, next } = await openRaw(t, url)
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  socket.write(`${[line, 'Content-Type: application/json', length, ...headers].join('\r\n')}\r\n\r\n${body}`)
  return (await next())!
}

function createKey(datadir: string): string {
  const db = openForKeys(datadir)
  try {
    return createApiKeyTable(db).create('n').key
  } finally {
    db.close()
  }
}

test('a name that was made to resolve to this machine is not served, on any path', async (t) => {
  const { url } = await startTestServer(t, { hosts: ['node.example'] })
  for (const host of ['localhost:1', '127.0.0.1', 'node.example']) {
    assert.equal((await rawRequest(t, url, { headers: [`Host: ${host}`], body: CALL })).status, 200)
    assert.equal((await handshake(url, '/ws/v3/x', { Host: host }))[0], 101)
  }
  const evil = ['Host: rebound.example:8545']
  const { status, body } = await rawRequest(t, url, { headers: evil, body: CALL })
  assert.deepEqual([status, JSON.parse(body).error.code], [403, -32600])
  assert.match(body, /--allowed-hosts/)
  const viaNode = await rawRequest(t, url, { headers: [...evil, 'Expect: 100-continue'], body: CALL })
  assert.equal(viaNode.status, 403)
  const health = await rawRequest(t, url, { line: 'GET /health HTTP/1.1', headers: evil, body: '' })
  assert.equal(health.status, 403)
  assert.equal((await handshake(url, '/ws/v3/x', { Host: 'rebound.example' }))[0], 403)
})

test('pages of this machine may read an open server and open sockets, pages of other sites may not', async (t) => {
  const { url } = await startTestServer(t, { cors: 'loopback' })
  const readableBy = async (origin: string) =>
    (await post(url, request('test_echo', 'w'), { ...JSON_TYPE, Origin: origin })).headers.get(
      'access-control-allow-origin',
    )
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1']) {
    assert.equal(await readableBy(origin), origin)
    assert.equal((await handshake(url, '/ws/v3/x', { Origin: origin }))[0], 101)
  }
  assert.equal((await handshake(url, '/ws/v3/x', {}))[0], 101, 'programs have no origin')
  for (const origin of ['https://a.example', 'null', 'http://localhost.a.example']) {
    assert.equal(await readableBy(origin), null)
    const [status, body] = await handshake(url, '/ws/v3/x', { Origin: origin })
    assert.deepEqual([status, JSON.parse(body).error.code], [403, -32600])
  }
})

test('keys are taken from the path, else from headers', async (t) => {
  const { url, datadir } = await startTestServer(t, { open: false })
  const key = createKey(datadir)
  const ask = async (path: string, headers: Record<string, string>) => {
    const { status, json } = await post(`${url}${path}`, request('test_echo', 'w'), { ...JSON_TYPE, ...headers })
    return json.error?.message ?? `${status} ${json.result}`
  }
  for (const path of ['/', '/v3', '/v3/']) {
    assert.equal(await ask(path, { Authorization: `Bearer ${key}` }), '200 w')
    assert.equal(await ask(path, { authorization: `bearer  ${key}` }), '200 w')
    assert.equal(await ask(path, { 'X-API-Key': key }), '200 w')
    assert.equal(await ask(path, { Authorization: `Basic ${key}` }), 'API key required in the path')
    assert.equal(await ask(path, { 'X-API-Key': 'f'.repeat(32) }), 'invalid API key')
  }
  assert.equal(await ask('/v3/wrong', { 'X-API-Key': key }), 'invalid API key')
  assert.equal(await ask(`/v3/${key}`, { 'X-API-Key': 'wrong' }), '200 w')
  // A large body is taken by Node's parser.
  assert.equal((await post(url, CALL.padEnd(70_000), { ...JSON_TYPE, 'X-API-Key': key })).status, 200)
  for (const path of ['/', '/ws/v3', '/ws/v3/']) {
    assert.equal((await handshake(url, path, { Authorization: `Bearer ${key}` }))[0], 101)
    assert.equal((await handshake(url, path, { 'X-API-Key': key }))[0], 101)
    assert.equal((await handshake(url, path, { 'X-API-Key': 'wrong' }))[0], 401)
  }
})

test('the refusal of a key names the ids of the calls', async (t) => {
  const { url } = await startTestServer(t, { open: false })
  const error = { code: -32002, message: 'API key required in the path' }
  const refused = (id: unknown) => ({ jsonrpc: '2.0', id, error })
  const ask = async (body: unknown) => {
    const { status, json } = await post(url, body)
    assert.equal(status, 401)
    return json
  }
  assert.deepEqual(await ask({ ...request('test_echo', 'w'), id: 'abc' }), refused('abc'))
  const notification = { jsonrpc: '2.0', method: 'test_echo', params: ['w'] }
  assert.deepEqual(await ask([request('test_echo', 'w'), notification, { ...notification, id: 'b' }, 7]), [
    refused(1),
    refused('b'),
    refused(null),
  ])
  assert.deepEqual(await ask(notification), refused(null))
  assert.deepEqual(await ask('{"id":5'), refused(null))
  assert.deepEqual(await ask(CALL.padEnd(65_536)), refused(1))
  assert.deepEqual(await ask(CALL.padEnd(65_537)), refused(null), 'a larger body is not read')
  const chunked = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(CALL))
      controller.close()
    },
  })
  const answer = await fetch(url, { method: 'POST', body: chunked, headers: JSON_TYPE, duplex: 'half' } as RequestInit)
  assert.deepEqual([answer.status, await answer.json()], [401, refused(1)])
})

test('a client that guesses keys is slowed down, while a right key of the same address works', async (t) => {
  const { url, datadir } = await startTestServer(t, { open: false })
  const key = createKey(datadir)
  const guess = (i: number) => post(`${url}/v3/${i.toString(16).padStart(32, '0')}`, request('test_echo', 'w'))
  for (let i = 0; i < 10; i++) {
    assert.equal((await guess(i)).status, 401)
    assert.equal((await handshake(url, `/ws/v3/${i}`, {}))[0], 401)
  }
  const { status, headers, json } = await guess(20)
  assert.deepEqual([status, json.error?.code, headers.get('connection')], [429, -32005, 'close'])
  assert.ok(Number(headers.get('retry-after')) >= 1)
  assert.equal((await handshake(url, '/ws/v3/123', {}))[0], 429)
  assert.equal((await post(url, request('test_echo', 'w'))).status, 401, 'no key is no guess')
  assert.equal((await post(`${url}/v3/${key}`, request('test_echo', 'w'))).status, 200)
  assert.equal((await handshake(url, `/ws/v3/${key}`, {}))[0], 101)
})
