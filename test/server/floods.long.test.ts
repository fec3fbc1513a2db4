import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../../src/server/admission/limits.js'
import { openRaw, type RawConnection } from '../support/rawHttp.js'
import { type Answer, post, request, startTestServer, testBothReaders } from '../support/serving.js'

/* Clients that send more than there is memory for, too slowly or on too many connections, or do not read their
 * answers. */

const MB = 1_000_000
const ECHO = JSON.stringify(request('test_echo', 'w'))

function start(t: TestContext, limits: Partial<ServerLimits>, startServer = startTestServer) {
  return startServer(t, { serverLimits: { ...DEFAULT_SERVER_LIMITS, ...limits } })
}

/** The begin of a POST; one of unknown length is sent in chunks. */
function head(length: number | 'chunked'): string {
  const field = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  return `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${field}\r\n\r\n`
}

const postBytes = (body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return head(Buffer.byteLength(text)) + text
}

async function openSocket(t: TestContext, url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/v3/x`)
  t.after(() => socket.terminate())
  await once(socket, 'open')
  return socket
}

/** The next messages, parsed. */
async function messages(socket: WebSocket, count: number): Promise<(Answer & Answer[])[]> {
  const answers: (Answer & Answer[])[] = []
  for await (const [data] of eventsOf(socket)) {
    answers.push(JSON.parse(String(data)))
    if (answers.length === count) break
  }
  return answers
}

async function* eventsOf(socket: WebSocket): AsyncGenerator<unknown[]> {
  const queue: unknown[][] = []
  let wake = () => {}
  socket.on('message', (...event) => {
    queue.push(event)
    wake()
  })
  socket.on('close', (code) => {
    queue.push([`"closed with ${code}"`])
    wake()
  })
  for (;;) {
    while (queue.length > 0) yield queue.shift()!
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}

/** Sends the text as a WebSocket frame whose end is missing. */
function sendUnfinished(socket: WebSocket, length: number): void {
  const header = Buffer.from([0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(length + 1, 6)
  const { _socket: stream } = socket as unknown as { _socket: RawConnection['socket'] }
  stream.write(Buffer.concat([header, Buffer.alloc(length, ' ')]))
}

testBothReaders(
  'bodies that do not fit are refused with 503, those before them and small ones are answered',
  async (t, startServer) => {
    const { url } = await start(t, { bodyBytes: 2.5 * MB }, startServer)
    const body = ECHO.padEnd(1 * MB)
    const connections = await Promise.all([1, 2, 3].map(() => openRaw(t, url)))
    for (const { socket } of connections) socket.write(head(body.length) + body.slice(0, -1))
    // Which of the three is refused depends on whose bytes come last.
    const answers = connections.map(async (each) => ({ each, answer: await each.next() }))
    const refused = await Promise.race(answers)
    assert.deepEqual([refused.answer?.status, refused.answer?.headers['retry-after']], [503, '1'])
    assert.deepEqual(JSON.parse(refused.answer!.body), {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32005, message: 'server busy' },
    })
    assert.equal((await post(url, ECHO)).json.result, 'w')
    for (const each of connections) if (each !== refused.each) each.socket.write(' ')
    for (const { each, answer } of await Promise.all(answers)) {
      if (each !== refused.each) assert.equal(JSON.parse(answer!.body).result, 'w')
    }
    assert.equal((await post(url, body)).json.result, 'w', 'what they held is free again')
  },
)

testBothReaders('a body in chunks that does not fit is refused', async (t, startServer) => {
  const { url } = await start(t, { bodyBytes: 0.5 * MB }, startServer)
  const { socket, next } = await openRaw(t, url)
  socket.write(`${head('chunked')}f4240\r\n${' '.repeat(900_000)}`)
  assert.equal((await next())?.status, 503)
})

testBothReaders(
  'small bodies that are not whole count as well, and so does what is sent while an answer is made',
  async (t, startServer) => {
    const { url } = await start(t, { bodyBytes: 0.2 * MB }, startServer)
    const connections = await Promise.all(Array.from({ length: 6 }, () => openRaw(t, url)))
    for (const { socket } of connections) socket.write(head(60_000) + ' '.repeat(50_000))
    const first = await Promise.race(connections.map(({ next }) => next()))
    assert.equal(first?.status, 503)
    for (const { socket } of connections) socket.destroy() // the server waits for them when it stops
  },
)

test('messages that are not whole count as bodies, whole or in fragments', async (t) => {
  const { url } = await start(t, { bodyBytes: 2.5 * MB })
  const sockets = await Promise.all([openSocket(t, url), openSocket(t, url), openSocket(t, url)])
  const closed = Promise.race(sockets.map((socket) => once(socket, 'close')))
  sendUnfinished(sockets[0], 1 * MB)
  sendUnfinished(sockets[1], 1 * MB)
  for (let i = 0; i < 100; i++) sockets[2].send(' '.repeat(10_000), { fin: false })
  const [code] = await closed
  assert.ok(code === 1013 || code === 1006, `${code}`)
  assert.equal((await post(url, ECHO)).json.result, 'w')
})

for (const [name, bytes] of [
  ['by Node', head(100_000)],
  ['in chunks', `${head('chunked')}10\r\n`],
  ['as a plain request', head(100)],
]) {
  test(`a body that does not come is ended with 408: ${name}`, async (t) => {
    const { url } = await start(t, { bodyStallMs: 200 })
    const { socket, next } = await openRaw(t, url)
    socket.write(`${bytes}{"jsonrpc"`)
    const answer = await next()
    assert.deepEqual([answer?.status, answer?.headers.connection], [408, 'close'])
    assert.equal(JSON.parse(answer!.body).error.code, -32600)
    assert.equal(await next(), undefined)
  })
}

test('a message that does not come ends its socket, one that comes does not', async (t) => {
  const { url } = await start(t, { bodyStallMs: 200 })
  const [slow, silent] = [await openSocket(t, url), await openSocket(t, url)]
  sendUnfinished(slow, 100)
  const [code] = await once(slow, 'close')
  assert.ok(code === 1008 || code === 1006, `${code}`)
  silent.send(ECHO)
  assert.equal((await messages(silent, 1))[0].result, 'w')
})

/** A connection that has had an answer, a silent one, and a socket: all idle. */
async function openIdle(t: TestContext, url: string) {
  const kept = await openRaw(t, url)
  kept.socket.write(postBytes(ECHO))
  assert.equal((await kept.next())?.status, 200)
  const socket = await openSocket(t, url)
  const silent = await openRaw(t, url)
  silent.socket.write('POST / HTTP/1.1\r\nHost')
  return { kept, socket, silent }
}

/** Has an answer under way on a new connection, and reads only its beginning. */
async function askLong(t: TestContext, url: string): Promise<RawConnection> {
  const connection = await openRaw(t, url)
  connection.socket.removeAllListeners('data')
  connection.socket.write(postBytes(LONG))
  await once(connection.socket, 'data')
  connection.socket.pause()
  return connection
}

testBothReaders(
  'with all connections taken, idle ones are closed for new ones: silent ones, kept ones, then WebSockets',
  async (t, startServer) => {
    const { url } = await start(t, { maxConnections: 3 }, startServer)
    const { kept, socket, silent } = await openIdle(t, url)
    const ended: string[] = []
    silent.socket.on('error', () => {}).on('close', () => ended.push('silent'))
    kept.socket.on('error', () => {}).on('close', () => ended.push('kept'))
    socket.on('close', () => ended.push('socket'))
    const busy: RawConnection[] = []
    for (const name of ['silent', 'kept', 'socket']) {
      busy.push(await askLong(t, url))
      while (!ended.includes(name)) await new Promise((resolve) => setImmediate(resolve))
      assert.equal(ended.at(-1), name)
    }
    assert.equal(ended.length, 3)
    const refused = await openRaw(t, url)
    const answer = await refused.next()
    assert.deepEqual([answer?.status, answer?.headers['retry-after']], [503, '1'])
    assert.equal(JSON.parse(answer!.body).error.code, -32005)
    assert.equal(await refused.next(), undefined)
    for (const { socket } of busy) {
      let bytes = 0
      socket.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes > 19 * MB) socket.destroy()
      })
      socket.resume()
      await once(socket, 'close')
      assert.ok(bytes > 19 * MB, 'a request under way is answered to its end')
    }
  },
)

for (const [name, part] of [
  ['by Node', head(100_000)],
  ['as a plain request', head(100)],
]) {
  test(`of the connections that send a request, the one that has sent nothing for longest is closed first: ${name}`, async (t) => {
    const { url } = await start(t, { maxConnections: 3 })
    const [first, second, other] = [await openRaw(t, url), await openRaw(t, url), await openRaw(t, url)]
    for (const [{ socket }, text] of [
      [first, `${part}{`],
      [second, `${part}{`],
      [first, '"'],
    ] as const) {
      socket.write(text)
      // What was sent before is read before the answers to these are.
      for (let i = 0; i < 2; i++) {
        other.socket.write(postBytes(ECHO))
        assert.equal((await other.next())?.status, 200)
      }
    }
    const { socket, next } = await openRaw(t, url)
    socket.write(postBytes(ECHO))
    assert.equal((await next())?.status, 200)
    assert.equal(await second.next(), undefined)
    assert.equal(first.socket.destroyed, false)
    first.socket.destroy() // the server waits for it when it stops
  })
}

testBothReaders('requests of one address under way are limited, answered with 429 beyond', async (t, startServer) => {
  const { url, pool } = await start(t, { maxInFlight: 2 }, startServer)
  await pool.ready()
  const slow = () => ({ jsonrpc: '2.0', id: 'slow', method: 'test_wait', params: ['0x3e8'] })
  const waiting = [post(url, slow()), post(url, [slow()])]
  const socket = await openSocket(t, url)
  let refused = await post(url, request('test_scan', 'w'))
  while (refused.status === 200) refused = await post(url, request('test_scan', 'w'))
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1'])
  const error = { code: -32005, message: 'too many requests under way' }
  assert.deepEqual(refused.json, { jsonrpc: '2.0', id: 1, error })
  socket.send(JSON.stringify([request('test_scan', 'w')]))
  assert.deepEqual(await messages(socket, 1), [[{ jsonrpc: '2.0', id: 1, error }]])
  assert.equal((await post(url, ECHO)).json.result, 'w', 'what is answered on the spot is not under way')
  for (const each of waiting) assert.equal((await each).status, 200)
  assert.equal((await post(url, request('test_scan', 'w'))).json.result, 'w')
})

const LONG = request('test_long', `0x${(20 * MB).toString(16)}`)

/** Whether `condition` holds within a minute, 200 times the stall that the tests below allow; `probe` runs before each
 *  look. */
async function becomes(condition: () => boolean, probe: () => void): Promise<boolean> {
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    if (condition()) return true
    probe()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}

for (const [name, bytes] of [
  ['by Node', postBytes(JSON.stringify(LONG).padEnd(70_000))],
  ['as a plain request', postBytes(LONG)],
]) {
  test(`a client that takes nothing of its answer is cut off: ${name}`, async (t) => {
    const { url } = await start(t, { writeStallMs: 300 })
    const { socket } = await openRaw(t, url)
    socket.pause()
    socket.write(bytes)
    socket.on('error', () => {}) // reset
    // Nothing is read before the server has ended the connection, which a write shows.
    assert.ok(
      await becomes(
        () => socket.destroyed,
        () => socket.write('x'),
      ),
      'the connection stays open',
    )
  })
}

test('a peer that takes nothing of its answers is cut off', async (t) => {
  const { url } = await start(t, { writeStallMs: 300 })
  const socket = await openSocket(t, url)
  socket.pause()
  socket.on('error', () => {})
  socket.send(JSON.stringify(LONG))
  assert.ok(
    await becomes(
      () => socket.readyState !== socket.OPEN,
      () => socket.ping(),
    ),
    'the connection stays open',
  )
})

testBothReaders(
  'answers that do not fit are refused with 503, and are made again once others are taken',
  async (t, startServer) => {
    const { url } = await start(t, { outputBytes: 50 * MB }, startServer)
    const connections: RawConnection['socket'][] = []
    for (let i = 0; i < 6; i++) {
      const { socket } = await openRaw(t, url)
      socket.removeAllListeners('data').pause()
      socket.write(postBytes(LONG))
      connections.push(socket)
    }
    await post(url, ECHO) // all six have come by then
    assert.equal((await post(url, ECHO)).json.result, 'w', 'small ones are answered')
    const statuses = await Promise.all(
      connections.map(async (socket) => {
        const data = once(socket, 'data')
        socket.resume()
        const [first] = await data
        socket.destroy()
        return String(first).slice(9, 12)
      }),
    )
    assert.ok(statuses.includes('503') && statuses.includes('200'), `${statuses}`)
    // The server has to notice first.
    for (;;) {
      const { status, json } = await post(url, LONG)
      if (status === 503) continue
      assert.equal((json.result as string).length, 20 * MB)
      return
    }
  },
)

test('batches on one socket wait until it takes its answers, and all are answered then', async (t) => {
  const { url } = await start(t, { connectionOutputBytes: 8 * MB, outputBytes: 100 * MB })
  const socket = await openSocket(t, url)
  const before = process.memoryUsage().arrayBuffers
  socket.pause()
  const item = request('test_long', `0x${MB.toString(16)}`)
  const COUNT = 40
  for (let i = 0; i < COUNT; i++) socket.send(JSON.stringify([item, item, item]))
  for (let i = 0; i < 20; i++) await post(url, ECHO)
  const held = process.memoryUsage().arrayBuffers - before
  assert.ok(held < 45 * MB, `${held} of ${COUNT * 3 * MB} bytes are held`)
  socket.resume()
  for (const answers of await messages(socket, COUNT)) {
    assert.deepEqual(
      answers.map(({ result }) => (result as string).length),
      [MB, MB, MB],
    )
  }
})

test('a socket that sends many small messages does not hold up other clients', async (t) => {
  const { url } = await start(t, {})
  const socket = await openSocket(t, url)
  const COUNT = 20_000
  for (let i = 0; i < COUNT; i++) socket.send(ECHO)
  const answered = messages(socket, COUNT)
  assert.equal((await post(url, ECHO)).json.result, 'w')
  assert.equal((await answered).length, COUNT)
})
