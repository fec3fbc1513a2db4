import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { freePort } from '../../support/freePort.js'
import { openRaw, type RawAnswer } from '../../support/rawHttp.js'
import { post, request, startTestServer } from '../../support/serving.js'

const CALL = JSON.stringify(request('test_echo', 'hello'))
const LONG_CALL = CALL.padEnd(100_000)
const OFFER = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk']

/** The answer to a request that a test writes line by line. */
async function ask(t: TestContext, url: string, lines: readonly string[], body = ''): Promise<RawAnswer | undefined> {
  const { socket, next } = await openRaw(t, url)
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]
  socket.write(`${[...lines, ...length].join('\r\n')}\r\n\r\n${body}`)
  return next()
}

for (const plainHttp of [true, false]) {
  const reader = plainHttp ? 'from the socket' : 'by Node'
  test(`an offer to upgrade to another protocol than WebSocket is ignored, ${reader}`, async (t) => {
    const admin = await freePort()
    const metrics = { onRpcPort: true, ownPort: { host: '127.0.0.1', port: admin, hosts: [] } }
    const { url } = await startTestServer(t, { plainHttp, page: true, metrics })
    const offers = [
      OFFER,
      ['Connection: Upgrade', 'Upgrade: TLS/1.0, h2c'],
      ['Connection: Upgrade', 'Upgrade: websocket'],
    ]
    for (const offer of offers) {
      for (const body of [CALL, LONG_CALL]) {
        const answer = await ask(t, url, ['POST /v3/ HTTP/1.1', 'Host: localhost', ...offer], body)
        assert.deepEqual([answer?.status, JSON.parse(answer?.body ?? '').result], [200, 'hello'])
      }
    }
    for (const [base, path] of [
      ...['/health', '/metrics', '/'].map((each) => [url, each]),
      ...['/health', '/metrics'].map((each) => [`http://127.0.0.1:${admin}`, each]),
    ]) {
      const answer = await ask(t, base, [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...OFFER])
      assert.equal(answer?.status, 200, path)
    }
    const wrong = await ask(t, url, ['GET /nowhere HTTP/1.1', 'Host: localhost', ...OFFER])
    assert.equal(wrong?.status, 404)
    const old = ['GET /health HTTP/1.0', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket']
    assert.equal((await ask(t, url, old))?.status, 200)
  })

  test(`the next request of a connection is answered after an offer, ${reader}`, async (t) => {
    const { url } = await startTestServer(t, { plainHttp })
    const { socket, next } = await openRaw(t, url)
    const head = ['POST / HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']
    const send = (body: string, ...more: string[]) =>
      socket.write(`${[...head, ...more, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`)
    for (const word of ['a', 'b', 'c']) {
      send(JSON.stringify(request('test_echo', word)), ...OFFER)
      assert.equal(JSON.parse((await next())?.body ?? '').result, word)
    }
  })

  test(`a request target in absolute form is served as its path, ${reader}`, async (t) => {
    const { url } = await startTestServer(t, { plainHttp, page: true })
    const authority = new URL(url).host
    for (const target of [
      `http://${authority}/`,
      `HTTP://localhost/v3/key?x=1`,
      'http://localhost',
      'https://u@localhost?q',
    ]) {
      const answer = await ask(t, url, [`POST ${target} HTTP/1.1`, 'Host: ignored.example'], CALL)
      assert.deepEqual([answer?.status, JSON.parse(answer?.body ?? '').result], [200, 'hello'], target)
    }
    const health = await ask(t, url, [`GET http://${authority}/health HTTP/1.1`, 'Host: a'])
    assert.equal(health?.status, 200)
    const ftp = await ask(t, url, ['POST ftp://localhost/ HTTP/1.1', 'Host: localhost'], CALL)
    assert.equal(ftp?.status, 404)
  })
}

test('the authority of the target is what the check of hosts sees', async (t) => {
  const admin = await freePort()
  const { url } = await startTestServer(t, {
    metrics: { onRpcPort: false, ownPort: { host: '127.0.0.1', port: admin, hosts: [] } },
  })
  for (const base of [url, `http://127.0.0.1:${admin}`]) {
    for (const target of ['http://evil.example/health', 'http://localhost@evil.example/health']) {
      const answer = await ask(t, base, [`GET ${target} HTTP/1.1`, 'Host: localhost'])
      assert.equal(answer?.status, 403, target)
    }
  }
})

test('a WebSocket opens with an absolute target and beside other offers', async (t) => {
  const { url } = await startTestServer(t)
  const key = Buffer.alloc(16, 1).toString('base64')
  const lines = [
    'Connection: Upgrade',
    'Upgrade: h2c, WebSocket',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
  ]
  const { socket, next } = await openRaw(t, url)
  socket.write(`${['GET http://localhost/ws/v3/x HTTP/1.1', 'Host: a', ...lines].join('\r\n')}\r\n\r\n`)
  assert.equal((await next())?.status, 101)
  const client = new WebSocket(url.replace('http', 'ws'))
  await once(client, 'open')
  client.terminate()
  assert.equal((await post(url, request('test_echo', 'still'))).json.result, 'still')
})
