import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { type Logger, silentLogger } from '../../src/lib/logger.js'
import { createTransactionForwarder, type ForwardingLimits } from '../../src/server/transactionForwarder.js'
import type { UpstreamAddress, UpstreamStatus } from '../../src/sources/upstreams/types.js'
import { keepLog } from '../support/chains/rightChain.js'

const HASH = `0x${'ab'.repeat(32)}`
const TRANSACTION = Uint8Array.of(2, 192)
const LIMITS: ForwardingLimits = { requestTimeoutMs: 5_000, maxResponseBytes: 1024, maxInFlight: 4 }

interface Node {
  readonly url: string
  /** Bodies of the requests that came. */
  readonly bodies: { method: string; params: unknown[] }[]
}

/** A node on a free port until the test ends. */
async function startNode(t: TestContext, answer: object | RequestListener): Promise<Node> {
  const bodies: Node['bodies'] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(JSON.parse(body))
    if (typeof answer === 'function') return answer(request, response)
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

/** The URL of a port that nothing listens on. */
async function closedUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

function forwarderTo(
  t: TestContext,
  addresses: readonly UpstreamAddress[],
  {
    states = [],
    limits = {},
    log = silentLogger,
  }: { states?: string[]; limits?: Partial<ForwardingLimits>; log?: Logger } = {},
) {
  const status = () => states.map((state) => ({ state }) as UpstreamStatus)
  const forwarder = createTransactionForwarder(addresses, { log, status, limits: { ...LIMITS, ...limits } })
  t.after(() => forwarder.close())
  return forwarder
}

test('sends the transaction as it is, and gives the hash that the upstream answers', async (t) => {
  const node = await startNode(t, { result: HASH })
  const { forward } = forwarderTo(t, [node])
  assert.equal(await forward(TRANSACTION), HASH)
  const [{ method, params }] = node.bodies
  assert.deepEqual({ method, params }, { method: 'eth_sendRawTransaction', params: ['0x02c0'] })
})

test('does so over WebSocket, on one connection', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  t.after(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    socket.on('message', (text) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(String(text)).id, result: HASH }))
    })
  })
  const { forward } = forwarderTo(t, [{ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` }])
  assert.deepEqual(await Promise.all([forward(TRANSACTION), forward(TRANSACTION)]), [HASH, HASH])
  assert.equal(connections, 1)
})

test("passes on the upstream's error with its code and whole message, but without credentials", async (t) => {
  const long = `insufficient funds for gas * price + value: ${'9'.repeat(300)}`
  const error = { code: -32003, message: `${long} at /v3/b2e5c3f1a09d4e76 with Bearer tiptop-secret` }
  const { url } = await startNode(t, { error })
  const address = { url: `${url}/v3/b2e5c3f1a09d4e76`, headers: { authorization: 'Bearer tiptop-secret' } }
  const other = await startNode(t, { result: HASH })
  const { log, lines } = keepLog()
  const { forward } = forwarderTo(t, [address, other], { log })
  await assert.rejects(forward(TRANSACTION), (thrown: Error & { code: number }) => {
    assert.equal(thrown.code, -32003)
    assert.ok(thrown.message.startsWith(`${long} at /v3/`), thrown.message)
    assert.doesNotMatch(thrown.message, /b2e5c3f1a09d4e76|tiptop-secret/)
    return true
  })
  assert.deepEqual([other.bodies.length, lines.length], [0, 0], 'a node that refuses has answered')
})

test('asks the next upstream when one does not answer as it should, and says nothing of either to the client', async (t) => {
  const hangs = await startNode(t, () => {})
  const refuses = await startNode(
    t,
    (_, response) => void response.writeHead(401).end('key b2e5c3f1a09d4e76 is unknown'),
  )
  const babbles = await startNode(t, { result: `0x${'00'.repeat(600)}` })
  const wrong = await startNode(t, { result: '0x1' })
  const unreachable = { url: await closedUrl() }
  const bad = [unreachable, { url: `${refuses.url}/v3/b2e5c3f1a09d4e76` }, babbles, wrong, hangs]
  const good = await startNode(t, { result: HASH })
  const limits = { requestTimeoutMs: 200 }
  assert.equal(await forwarderTo(t, [...bad, good], { limits }).forward(TRANSACTION), HASH)
  const { log, lines } = keepLog()
  const message = 'no upstream answered; the transaction may have been sent all the same'
  const { forward } = forwarderTo(t, bad, { limits, log })
  await assert.rejects(forward(TRANSACTION), { code: -32000, message })
  assert.equal(lines.length, bad.length)
  await assert.rejects(forward(TRANSACTION), { code: -32000, message })
  assert.equal(lines.filter(({ level }) => level === 'warn').length, bad.length, 'each is warned of once')
  assert.doesNotMatch(JSON.stringify(lines), /b2e5c3f1a09d4e76/)
})

test('asks upstreams that follow well first, and one of another chain never', async (t) => {
  const nodes = await Promise.all([1, 2, 3].map((i) => startNode(t, { result: `0x${String(i).repeat(64)}` })))
  const { forward } = forwarderTo(t, nodes, { states: ['refused', 'failing', 'ok'] })
  assert.equal(await forward(TRANSACTION), `0x${'3'.repeat(64)}`)
  const none = forwarderTo(t, [nodes[0]], { states: ['refused'] })
  await assert.rejects(none.forward(TRANSACTION), { code: -32000 })
  assert.equal(nodes[0].bodies.length, 0)
})

test('refuses more transactions at a time than the limit, and takes others when those are through', async (t) => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const node = await startNode(t, async (_, response) => {
    await released
    response.setHeader('content-type', 'application/json').end(`{"jsonrpc":"2.0","id":1,"result":"${HASH}"}`)
  })
  const { forward } = forwarderTo(t, [node])
  const running = Array.from({ length: LIMITS.maxInFlight }, () => forward(TRANSACTION))
  await assert.rejects(forward(TRANSACTION), { code: -32005, message: 'server busy' })
  release()
  assert.deepEqual(new Set(await Promise.all(running)), new Set([HASH]))
  assert.equal(await forward(TRANSACTION), HASH)
})
