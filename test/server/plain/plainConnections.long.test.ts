import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createTimeBudget } from '../../../src/rpc/core/timeBudget.js'
import { createByteBudget } from '../../../src/server/admission/byteBudget.js'
import { createReadBudget } from '../../../src/server/admission/readBudget.js'
import { createRequestQueue } from '../../../src/server/admission/requestQueue.js'
import { createWriteQueue } from '../../../src/server/admission/writeQueue.js'
import { takePlainRequests } from '../../../src/server/plain/plainConnections.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { openRaw, type RawAnswer } from '../../support/rawHttp.js'
import { post, request, startTestServer, testBothReaders } from '../../support/serving.js'
import { THOROUGH } from '../../support/thorough.js'

/* Requests that are taken from the socket without Node's parser. What Node itself answers is the oracle: a connection
 * whose first request is not plain is left to it. */

/** A request for calls. */
function callRequest(body: string, headers: readonly string[] = [], line = 'POST / HTTP/1.1'): Buffer {
  const fields = [
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ]
  return Buffer.from(`${[line, ...fields].join('\r\n')}\r\n\r\n${body}`)
}

const call = (id: number, method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id, method, params })
const callText = (...args: Parameters<typeof call>) => JSON.stringify(call(...args))
const HEALTH = Buffer.from('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')

/** Requests of all kinds after which the connection lives on. */
const LIVING: ((random: SeededRandom) => Buffer)[] = [
  (random) => callRequest(callText(random.below(100), 'test_echo', 'wörd \u{1f600}'.repeat(random.below(30)))),
  (random) => callRequest(callText(random.below(100), 'test_long', `0x${(random.below(8000) + 1).toString(16)}`)),
  (random) => callRequest(callText(1, 'test_long', random.below(2) ? '0x10000' : '0x30000')),
  () => callRequest(callText(1, 'test_wait', '0x5')),
  (random) => callRequest(callText(random.below(100), 'test_scan', 'é')),
  () => callRequest(JSON.stringify([call(1, 'test_echo', 'a'), call(2, 'test_scan', 'b')])),
  () => callRequest(JSON.stringify({ jsonrpc: '2.0', method: 'test_echo', params: ['unheard'] })),
  () => callRequest('{"jsonrpc'),
  () => callRequest(''),
  () => callRequest(callText(1, 'test_echo', 'a'), ['Origin: https://a.example', 'Accept-Encoding: gzip']),
  () => callRequest(callText(1, 'test_echo', 'a'), ['connection: Keep-Alive', 'X-Other: \t b ']),
  () => callRequest(callText(1, 'test_echo', 'a'), [], 'POST /v3/any?a=b HTTP/1.1'),
]

/** Requests that Node takes, after which the connection lives on. */
const OTHERS: ((random: SeededRandom) => Buffer)[] = [
  () => HEALTH,
  () => Buffer.from('OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://a.example\r\n\r\n'),
  () => callRequest('{}', ['X-Name: \xe9']),
  () => callRequest('{}', ['Content-Encoding: gzip']),
  () => callRequest('{}', [], 'PUT / HTTP/1.1'),
  () => callRequest('{}', [], 'POST /nowhere HTTP/1.1'),
  () => callRequest(callText(1, 'test_echo', 'x'.repeat(70_000))),
  () => callRequest(callText(1, 'test_echo', 'a'), ['Expect: 100-continue']),
  () =>
    Buffer.from(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ),
]

/** Requests after which the server closes the connection. */
const LAST: (() => Buffer)[] = [
  () => callRequest(callText(1, 'test_echo', 'a'), ['Connection: close']),
  () => callRequest(callText(1, 'test_wait', '0x5'), ['Connection: close']),
  () => callRequest(callText(1, 'test_long', '0x20000'), ['Connection: close']),
  () => callRequest(callText(1, 'test_echo', 'a'), [], 'POST / HTTP/1.0'),
]

/** Requests that are none. Node forgets those before them whose answers are not there yet, so they come alone. */
const MALFORMED: (() => Buffer)[] = [
  () => callRequest('{}', ['Content-Length: 3']),
  () => callRequest('{}', ['Name : b']),
  () => Buffer.from('POST\r\n\r\n'),
]

const CONVERSATIONS = THOROUGH ? 150 : 20

/** Returns the requests of a connection; the last one ends it. */
function randomRequests(random: SeededRandom): Buffer[] {
  const requests: Buffer[] = []
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)]
  if (random.below(20) === 0) return [pick(MALFORMED)()]
  for (let i = random.below(8); i >= 0; i--) requests.push(pick(random.below(8) ? LIVING : OTHERS)(random))
  requests.push(pick(LAST)())
  return requests
}

/** Writes the bytes in pieces, and gives all answers until the server ends the connection. */
async function converse(
  t: TestContext,
  url: string,
  { bytes, cuts, viaNode }: { bytes: Buffer; cuts: readonly number[]; viaNode: boolean },
): Promise<RawAnswer[]> {
  const { socket, next } = await openRaw(t, url)
  if (viaNode) {
    socket.write(HEALTH)
    await next()
  }
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    socket.write(bytes.subarray(from, cut))
    from = cut
    await new Promise(setImmediate)
  }
  const answers: RawAnswer[] = []
  for (let answer = await next(); answer !== undefined; answer = await next()) answers.push(answer)
  return answers
}

test('requests are answered as Node answers them, however they are cut into pieces', async (t) => {
  const { url, warm } = await startTestServer(t, { cors: ['https://a.example'] })
  await warm() // from then on /ready answers the same
  const random = seededRandom(41)
  let answered = 0
  for (let i = 0; i < CONVERSATIONS; i++) {
    const requests = randomRequests(random)
    const bytes = Buffer.concat(requests)
    const cuts = Array.from({ length: random.below(6) }, () => random.below(bytes.length)).sort((a, b) => a - b)
    const [mine, wanted] = await Promise.all([false, true].map((viaNode) => converse(t, url, { bytes, cuts, viaNode })))
    assert.deepEqual(
      mine,
      wanted,
      `conversation ${i}: ${JSON.stringify(requests.map((each) => String(each.subarray(0, 90))))}`,
    )
    answered += mine.length
  }
  assert.ok(answered > 3 * CONVERSATIONS, `${answered}`)
})

test('a byte at a time, with a pause after the head, is a request as well', async (t) => {
  const { url } = await startTestServer(t)
  const body = callText(7, 'test_echo', 'wörd')
  const bytes = callRequest(body, ['Connection: close'])
  const headEnd = bytes.indexOf('\r\n\r\n') + 4
  const wanted = [`{"jsonrpc":"2.0","id":7,"result":"wörd"}`]
  const everywhere = Array.from(bytes.keys())
  for (const cuts of [everywhere, everywhere.filter((cut) => cut >= headEnd), [headEnd]]) {
    const answers = await converse(t, url, { bytes, cuts, viaNode: false })
    assert.deepEqual(
      answers.map((each) => each.body),
      wanted,
    )
  }
})

// Node's parser gives up requests under way when the client ends its side.
test('a client that ends its side after its requests gets all answers', async (t) => {
  const { url } = await startTestServer(t)
  const { socket, next } = await openRaw(t, url)
  const ids = Array.from({ length: 50 }, (_, id) => id)
  socket.end(Buffer.concat(ids.map((id) => callRequest(callText(id, id % 3 ? 'test_echo' : 'test_scan', 'w')))))
  for (const id of ids) assert.equal(JSON.parse((await next())!.body).id, id)
  assert.equal(await next(), undefined)
})

testBothReaders(
  'a client that reads nothing is not answered on and on, and gets everything once it reads',
  async (t, start) => {
    const { url } = await start(t)
    const { socket, next } = await openRaw(t, url)
    socket.pause()
    const COUNT = THOROUGH ? 4000 : 2500
    const LENGTH = 60_000
    for (let id = 0; id < COUNT; id++) socket.write(callRequest(callText(id, 'test_long', `0x${LENGTH.toString(16)}`)))
    const before = process.memoryUsage().rss
    for (let i = 0; i < 50; i++) await post(url, request('test_echo', 'w'))
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 100e6, `${grown} of ${COUNT * LENGTH} bytes are held`)
    socket.resume()
    for (let id = 0; id < COUNT; id++) {
      const { result, ...rest } = JSON.parse((await next())!.body)
      assert.deepEqual([rest.id, result.length], [id, LENGTH])
    }
  },
)

testBothReaders('clients that disconnect in the middle of anything affect no other client', async (t, start) => {
  const { url, pool } = await start(t)
  await pool.ready()
  const random = seededRandom(3)
  const goAway = async (i: number) => {
    const { socket } = await openRaw(t, url)
    const bytes = Buffer.concat([
      callRequest(callText(i, 'test_wait', '0x14')),
      callRequest(callText(i, 'test_long', '0x40000')),
    ])
    socket.write(bytes.subarray(0, random.below(bytes.length) + 1))
    await new Promise((resolve) => setTimeout(resolve, random.below(40)))
    if (i % 2) socket.resetAndDestroy()
    else socket.destroy()
  }
  await Promise.all(Array.from({ length: THOROUGH ? 60 : 8 }, (_, i) => goAway(i)))
  assert.equal((await post(url, request('test_echo', 'w'))).json.result, 'w')
})

testBothReaders('a batch is given up when its client leaves, in each way', async (t, start) => {
  const { url, pool, close } = await start(t)
  await pool.ready()
  for (const way of ['end', 'destroy', 'resetAndDestroy'] as const) {
    const { socket } = await openRaw(t, url)
    // One thread runs them one after another, for a minute.
    socket.write(callRequest(JSON.stringify(Array.from({ length: 600 }, (_, id) => call(id, 'test_wait', '0x64')))))
    assert.equal((await post(url, request('test_echo', 'w'))).json.result, 'w')
    socket[way]()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // A running batch is not closed before its time is over.
  const begunMs = performance.now()
  await close()
  assert.ok(performance.now() - begunMs < 10_000)
})

testBothReaders('when the server stops, idle connections end and a request under way is answered', async (t, start) => {
  const server = await start(t)
  await server.pool.ready()
  const [idle, busy] = [await openRaw(t, server.url), await openRaw(t, server.url)]
  idle.socket.write(callRequest(callText(1, 'test_echo', 'w')))
  assert.equal((await idle.next())?.headers.connection, 'keep-alive')
  busy.socket.write(callRequest(callText(1, 'test_wait', '0xc8')))
  await post(server.url, request('test_echo', 'w')) // the other one has arrived by then
  const stopped = server.close()
  assert.equal(await idle.next(), undefined)
  const last = await busy.next()
  assert.deepEqual([JSON.parse(last!.body).result, last!.headers.connection], ['waited 200', 'close'])
  assert.equal(await busy.next(), undefined)
  await stopped
})

/** A server that takes plain requests and answers each with its body; Node would answer with 404. */
async function startEcho(t: TestContext, timeouts: { idleMs: number; requestMs: number }): Promise<string> {
  const server = createServer((_request, response) => void response.writeHead(404).end())
  const connections = takePlainRequests<true>(server, {
    handler: {
      admit: () => true,
      clientOf: () => 1,
      answer: ({ body }, reply) => reply.send(200, [], [Buffer.from(body)]),
    },
    writeQueue: createWriteQueue(),
    timeouts: { ...timeouts, stallMs: 10_000, leastBytes: 1 },
    bodies: createByteBudget(1e6),
    reads: createReadBudget(),
    refusals: { count() {} },
    requestQueue: createRequestQueue(createTimeBudget()),
    admit: () => ({ kind: 'http', begin() {}, end() {}, receive() {}, upgrade() {} }),
    onSweep(check) {
      const timer = setInterval(() => check(performance.now()), 50)
      t.after(() => clearInterval(timer))
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    connections.closeAll()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a connection that is silent for too long is closed, one in the middle of a request after saying why', async (t) => {
  const url = await startEcho(t, { idleMs: 100, requestMs: 100 })
  const [silent, slow] = [await openRaw(t, url), await openRaw(t, url)]
  silent.socket.write(callRequest('first'))
  assert.equal((await silent.next())?.body, 'first')
  slow.socket.write(callRequest('second').subarray(0, -1))
  const answer = await slow.next()
  assert.deepEqual([answer?.status, answer?.headers.connection], [408, 'close'])
  assert.equal(await slow.next(), undefined)
  assert.equal(await silent.next(), undefined)
})

test('a connection with something to do is not closed for its silence', async (t) => {
  const url = await startEcho(t, { idleMs: 3000, requestMs: 3000 })
  const { socket, next } = await openRaw(t, url)
  for (let i = 0; i < 4; i++) {
    socket.write(callRequest(`body ${i}`))
    assert.equal((await next())?.body, `body ${i}`)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
})
