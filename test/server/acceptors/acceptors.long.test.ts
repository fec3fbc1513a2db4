import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import type { ServingOptions } from '../../../src/cli/serving/options.js'
import { startServing } from '../../../src/cli/serving.js'
import { createApiKeyTable, openForKeys } from '../../../src/store/keys/apiKeys.js'
import { BOB, EMITTER, REVERTER } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { seededRandom } from '../../support/random.js'
import { openRaw, type RawAnswer } from '../../support/rawHttp.js'
import { post, request, servingOptions } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { signals } from '../../support/testMethods.js'
import { until } from '../../support/until.js'

const METHODS = new URL('../../support/acceptorMethods.js', import.meta.url).href
const skip = process.platform === 'linux' ? false : 'a port cannot be shared between threads here'

/** A server of the fixture with one acceptor thread. */
async function serve(t: TestContext, options: Partial<ServingOptions> = {}) {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const common = { methodsModule: METHODS, acceptThreads: 1, ...options }
  const serving = await startServing({ ...servingOptions(datadir), ...common })
  t.after(() => serving.close())
  await serving.warm()
  return { ...serving, datadir }
}

/** A connection on which requests are sent one after another. */
interface Connection {
  send(body: unknown, headers?: readonly string[]): Promise<RawAnswer | undefined>
  get(path: string): Promise<RawAnswer | undefined>
  end(): void
}

async function connectTo(t: TestContext, url: string, path = '/'): Promise<Connection> {
  const { socket, next } = await openRaw(t, url)
  const { host } = new URL(url)
  return {
    send(body, headers = []) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const lines = [`Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${text.length}`, ...headers]
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`)
      return next()
    },
    get(target) {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      return next()
    },
    end: () => void socket.destroy(),
  }
}

const resultOf = (answer: RawAnswer | undefined) => JSON.parse(answer!.body).result

/** Connections to the main thread and to the acceptor thread: the system chooses the thread of each. */
async function connectToBoth(t: TestContext, url: string, path?: string) {
  const found: { [thread: string]: Connection } = {}
  while (found.main === undefined || found.acceptor === undefined) {
    const connection = await connectTo(t, url, path)
    const thread = resultOf(await connection.send(request('web3_clientVersion')))
    // An earlier one is idle, and closed where connections are few.
    found[thread]?.end()
    found[thread] = connection
  }
  return found as { main: Connection; acceptor: Connection }
}

const REQUESTS: [body: unknown, ...headers: string[]][] = [
  [request('eth_call', { to: EMITTER, data: '0x' }, 'latest')],
  [request('eth_call', { to: REVERTER, data: '0x' }, 'latest')],
  [request('eth_call', { to: '0x12' }, 'latest')],
  [request('eth_estimateGas', { from: BOB, to: BOB })],
  [request('eth_getBalance', BOB, '0x10')],
  [request('eth_getBlockByNumber', 'latest', true)],
  [request('eth_getBlockByNumber', 'pending', false)],
  [request('eth_getTransactionByHash', `0x${'ab'.repeat(32)}`)],
  [request('eth_getLogs', { fromBlock: '0x1', toBlock: '0x20' })],
  [request('eth_newBlockFilter', 1)],
  [request('test_none')],
  [[request('eth_chainId'), request('eth_blockNumber'), { id: 3 }]],
  [{ jsonrpc: '2.0', method: 'eth_chainId' }],
  ['{"jsonrpc'],
  [request('eth_blockNumber'), 'Cairn-Min-Block: 1000000'],
  [request('eth_chainId'), 'Origin: https://page.example'],
  [request('eth_getBlockReceipts', 'latest'), 'Accept-Encoding: gzip'],
  [request('test_echo', 'w'.repeat(40_000))],
  [request('eth_chainId'), 'TE: trailers'],
]

/** What differs from one request to the next. */
function comparable(answer: RawAnswer | undefined) {
  const { date: _, ...headers } = answer?.headers ?? {}
  return { status: answer?.status, headers, body: answer?.body }
}

test('an acceptor thread answers as the main thread, is recorded with it, and replaced when it ends', {
  skip,
}, async (t) => {
  const accessLog = join(temporaryDirectory(t), 'access.log')
  const serverLimits = { ...servingOptions('').serverLimits, minBlockWaitMs: 0 }
  const metrics = { onRpcPort: true, ownPort: undefined }
  const { url, close } = await serve(t, { accessLog, metrics, serverLimits })
  const { main, acceptor } = await connectToBoth(t, url)
  for (const [body, ...headers] of REQUESTS) {
    const [own, expected] = [await acceptor.send(body, headers), await main.send(body, headers)]
    assert.deepEqual(comparable(own), comparable(expected), JSON.stringify(body).slice(0, 100))
  }
  for (let i = 0; i < 8; i++) {
    const headers = { 'Content-Type': 'application/json', Connection: 'close' } // another connection each time
    assert.deepEqual((await post(url, request('test_workCall', '0x1', 'parts'), headers)).json.result, ['parts'])
  }
  // The last request was none for the plain parser: the main thread has the connection now.
  assert.equal(resultOf(await acceptor.send(request('web3_clientVersion'))), 'main')
  assert.equal((await acceptor.get('/health'))?.status, 200)
  const page = (await acceptor.get('/metrics'))!.body
  assert.match(page, /^cairn_rpc_requests_total\{method="eth_estimateGas",outcome="ok"\} 2$/m)
  assert.match(page, /^cairn_rpc_duration_seconds_count\{method="eth_estimateGas"\} 2$/m)
  assert.match(page, /^cairn_connections\{kind="http"\} 2$/m)
  await openSockets(t, url)
  assert.equal(await (await connectToBoth(t, url)).acceptor.send(request('eth_gasPrice')), undefined) // it ends
  assert.equal((await main.send(request('eth_chainId')))?.status, 200)
  await connectToBoth(t, url) // another one is started
  await close()
  const lines = readFileSync(accessLog, 'utf8').trim().split('\n')
  const estimates = lines.map((line) => JSON.parse(line)).filter(({ methods }) => methods?.[0] === 'eth_estimateGas')
  assert.deepEqual(
    estimates.map(({ client, status }) => [client, status]),
    [
      ['127.0.0.1', 200],
      ['127.0.0.1', 200],
    ],
  )
})

test('limits of a key hold over all threads', { skip }, async (t) => {
  const { url, datadir } = await serve(t, { open: false, usageDays: 1 })
  const db = openForKeys(datadir)
  const table = createApiKeyTable(db)
  const [limited, other] = [table.create('limited', { rateRps: 20 }), table.create('other')]
  t.after(() => void db.close())
  const { main, acceptor } = await connectToBoth(t, url, `/v3/${limited.key}`)
  await new Promise((resolve) => setTimeout(resolve, 1100)) // the bucket is full again
  const random = seededRandom(32)
  const admitted = { main: 0, acceptor: 0 }
  const beganMs = performance.now()
  while (performance.now() - beganMs < 400) {
    const thread = random.below(2) === 0 ? 'main' : 'acceptor'
    const answer = await { main, acceptor }[thread].send(request('eth_blockNumber'))
    if (answer?.status === 200) admitted[thread]++
    else assert.equal(JSON.parse(answer!.body).error.data.allowed_rps, 20)
  }
  const total = admitted.main + admitted.acceptor
  const most = 20 + ((performance.now() - beganMs) / 1000) * 20
  assert.ok(total >= 20 && total <= most, `${total} of ${most}`)
  assert.ok(Math.min(admitted.main, admitted.acceptor) > 0)
  const free = await connectToBoth(t, url, `/v3/${other.key}`)
  assert.equal((await free.acceptor.send(request('eth_blockNumber')))?.status, 200)
  table.revoke(other.id)
  assert.equal((await free.acceptor.send(request('eth_blockNumber')))?.status, 401)
})

/** Subscribes on sockets of both threads. */
async function openSockets(t: TestContext, url: string) {
  for (let i = 0; i < 8; i++) {
    const socket = new WebSocket(url.replace('http', 'ws'))
    t.after(() => socket.terminate())
    await once(socket, 'open')
    socket.send(JSON.stringify(request('eth_subscribe', 'newHeads')))
    const [data] = await once(socket, 'message')
    assert.match(JSON.parse(String(data)).result, /^0x[\da-f]+$/)
    socket.terminate()
  }
}

test('threads share the limit of connections, and the port with no other server', { skip }, async (t) => {
  const serverLimits = { ...servingOptions('').serverLimits, maxConnections: 2 }
  const { url, datadir, close } = await serve(t, { serverLimits })
  const { main, acceptor } = await connectToBoth(t, url)
  const { answers, release } = await hold([main, acceptor])
  const refused = await connectTo(t, url)
  assert.equal((await refused.send(request('eth_chainId')))?.status, 503)
  const port = Number(new URL(url).port)
  const second = startServing({ ...servingOptions(datadir), port, acceptThreads: 1 })
  await assert.rejects(second, /cannot listen on 127\.0\.0\.1 port \d+: .*EADDRINUSE/)
  // A server that stops answers the requests of all threads.
  const closed = close()
  await until(async () => !(await connects(url)))
  release()
  for (const answer of await Promise.all(answers)) {
    assert.deepEqual([resultOf(answer), answer?.headers.connection], ['held', 'close'])
  }
  await closed
})

test('connections of a thread that has ended are not counted any more', { skip }, async (t) => {
  const serverLimits = { ...servingOptions('').serverLimits, maxConnections: 2 }
  const { url } = await serve(t, { serverLimits })
  for (let ended = 0; ended < 2; ended++) {
    const { main, acceptor } = await connectToBoth(t, url)
    assert.equal(await acceptor.send(request('eth_gasPrice')), undefined) // it ends
    main.end()
  }
  const connection = await connectTo(t, url)
  assert.equal((await connection.send(request('eth_chainId')))?.status, 200)
})

/** Sends a request on each connection that is answered once it is released. */
async function hold(connections: readonly Connection[]) {
  const held: (() => void)[] = []
  const onHeld = (release: () => void) => void held.push(release)
  signals.on('held', onHeld)
  const answers = connections.map((connection) => connection.send(request('test_hold')))
  await until(() => held.length === connections.length)
  signals.off('held', onHeld)
  return {
    answers,
    release() {
      for (const release of held) release()
    },
  }
}

function connects(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
