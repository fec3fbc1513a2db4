import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serveFixture } from '../support/cairn.js'
import { LONG_TRACE, longTrace } from '../support/chains/longTrace.js'
import { ask, openSocket, send } from '../support/rpcClient.js'

/* Long traces, sent while they are made. */

const server = await serveFixture({ after }, ['--evm-threads', '1'])
const request = (gas: number) => ({ jsonrpc: '2.0', id: 1, method: 'debug_traceCall', params: longTrace(gas) })

const post = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(server.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  })

// A request with a header that plain ones do not have is left to Node's parser.
for (const [path, headers] of [
  ['plain connections', {}],
  ["Node's parser", { 'Transfer-Encoding': 'chunked' }],
] as const) {
  test(`a long trace is whole over ${path}, and the connection stays open`, async () => {
    const long = await send(server.url, request(1000))
    const response = 'Transfer-Encoding' in headers ? await postChunked(request(1000)) : await post(request(1000))
    assert.equal(response.headers.get('content-length'), null)
    const text = await response.text()
    assert.match(text.slice(0, 200), LONG_TRACE.beginning)
    assert.match(text.slice(-20), LONG_TRACE.end)
    assert.deepEqual(JSON.parse(text), long)
    assert.equal((await ask(server.url, 'eth_chainId')).error, undefined)
  })
}

test('a batch and a WebSocket get it too, as long as it is not longer than a batch may be', async (t) => {
  const alone = await send(server.url, request(1000))
  const [inBatch] = (await (await post([request(1000)])).json()) as unknown[]
  assert.deepEqual(inBatch, alone)
  const socket = await openSocket(server.socketUrl)
  t.after(() => socket.close())
  assert.deepEqual(await socket.send(request(1000)), alone)
  const tooLong = { code: -32003, message: 'response too large' }
  const [refused] = (await (await post([request(10_000)])).json()) as { error: unknown }[]
  assert.deepEqual(refused.error, tooLong)
  assert.deepEqual((await socket.send(request(10_000))).error, tooLong)
})

test('the thread of a client that leaves is free again', async () => {
  const leaving = new AbortController()
  const response = await post(request(1_000_000), {}, leaving.signal) // more than anybody reads
  const reader = response.body!.getReader()
  await reader.read()
  leaving.abort()
  await assert.rejects(reader.read())
  const [call] = longTrace(0)
  assert.equal((await ask(server.url, 'debug_traceCall', [call, 'latest'])).error, undefined)
})

test('a trace that runs out of time in the middle breaks off', async (t) => {
  const hasty = await serveFixture(t, ['--trace-timeout', '2000'])
  const response = await fetch(hasty.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request(1_000_000)),
  })
  await assert.rejects(response.text())
})

function postChunked(body: unknown): Promise<Response> {
  const stream = new Blob([JSON.stringify(body)]).stream()
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: stream, duplex: 'half' }
  return fetch(server.url, init as RequestInit)
}
