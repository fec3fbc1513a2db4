import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairn, spawnCairn, spawnNode, startCairn } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { NEEDS_NATS, startNats } from '../support/nats/nats.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until, untilValue } from '../support/until.js'
import { type Message, Receiver, type SinkEvent } from './receiver.js'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

function sign(secret: string, { id, at, body }: { id: string; at: string; body: Buffer | string }): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')}`
}

/** A webhook on a free port, whose answers `answer` gives to signed messages; others get 401. */
async function startReceiver(
  t: TestContext,
  secret: () => string,
  answer: (message: Message, response: ServerResponse) => void | Promise<void>,
) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const head = request.headers as { [name: string]: string }
    const signed = sign(secret(), { id: head['webhook-id'], at: head['webhook-timestamp'], body })
    if (signed !== head['webhook-signature']) return response.writeHead(401).end()
    await answer(JSON.parse(body.toString()) as Message, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
}

interface Health {
  sink: {
    state: string
    block: number
    lagBlocks: number
    deliveries: number
    failures: number
    problem: string | null
  }
}
const healthOf = async (url: string) => ((await (await fetch(`${url}/health`)).json()) as Health).sink

/** A database of the bundled chain, or an empty one, and the options of a sink with the filter. */
async function writeSink(
  t: TestContext,
  filter: object = { blocks: true },
  { isEmpty = false } = {},
): Promise<{ datadir: string; options: string[] }> {
  const datadir = temporaryDirectory(t)
  if (isEmpty) openForWriting(datadir).close()
  else await importFixture(datadir)
  const [secret, path] = ['secret', 'filter.json'].map((name) => join(datadir, name))
  writeFileSync(secret, `${SECRET}\n`)
  writeFileSync(path, JSON.stringify(filter))
  const sink = ['--sink-secret', secret, '--sink-filter', path, '--sink-from', '0']
  return { datadir, options: ['--datadir', datadir, '--open', '--metrics', '--max-logs', '100000', ...sink] }
}

test('a webhook that is not trusted, fails, is slow, and loses its server has each event, in order', async (t) => {
  const { options } = await writeSink(t)
  const receiver = new Receiver()
  let secret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  let count = 0
  let kill: (() => void) | undefined
  const url = await startReceiver(
    t,
    () => secret,
    async (message, response) => {
      count++
      if (count % 4 === 1) return void response.writeHead(503).end()
      await new Promise((resolve) => setTimeout(resolve, 20))
      receiver.apply(message)
      if (count > 6 && kill !== undefined) return kill()
      response.end()
    },
  )
  const sink = ['--sink', url, ...options]
  const first = await startCairn(t, sink)
  const refused = await untilValue(
    () => healthOf(first.url),
    ({ failures }) => failures > 1,
  )
  assert.deepEqual([refused.state, refused.deliveries], ['retrying', 0])
  assert.match(refused.problem!, /answered 401/)
  assert.equal(receiver.messages, 0)
  await first.stop()

  secret = SECRET
  const killed = spawnCairn(['serve', '--port', '0', ...sink])
  await new Promise<void>((resolve) => {
    kill = () => {
      killed.child.kill('SIGKILL')
      resolve()
    }
  })
  await killed.ended
  kill = undefined
  const delivered = receiver.messages
  const { url: server } = await startCairn(t, sink)
  const head = Number(await resultOf<string>(server, 'eth_blockNumber'))
  const done = await untilValue(
    () => healthOf(server),
    ({ block }) => block === head,
  )
  assert.deepEqual([done.state, done.lagBlocks, done.problem], ['following', 0, null])
  assert.ok(receiver.messages > delivered && receiver.repeated > 0)
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) =>
      resultOf<{ hash: string }>(server, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
    ),
  )
  assert.deepEqual(
    receiver.hashes(),
    blocks.map(({ hash }) => hash),
  )
  const logs = await resultOf<SinkEvent[]>(server, 'cairn_getDecodedLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
  assert.ok(logs.length > 10_000)
  assert.deepEqual(receiver.events(), logs)
  const metrics = await (await fetch(`${server}/metrics`)).text()
  assert.match(metrics, /^cairn_sink_state\{state="following"\} 1$/m)
  assert.match(metrics, /^cairn_sink_lag_blocks 0$/m)
  assert.match(metrics, /^cairn_sink_failures_total [1-9]/m)
})

test('the receiver of docs/sinks.md takes signed messages and refuses others', async (t) => {
  const [, code] = /^```js\n([\s\S]*?)^```$/m.exec(readFileSync(packagePath('docs/sinks.md'), 'utf8')) ?? assert.fail()
  const path = join(temporaryDirectory(t), 'receiver.mjs')
  writeFileSync(
    path,
    code.replace('.listen(3000)', ".listen(0, function () { console.log('port', this.address().port) })"),
  )
  const { child, waitFor } = spawnNode([path], { SINK_SECRET: SECRET })
  t.after(() => void child.kill())
  const [, port] = await waitFor('stdout', /^port (\d+)/)
  const body = JSON.stringify({ kind: 'added', blocks: [{ number: 7, hash: '0x12', events: [{}, {}] }] })
  const post = async (changes: { secret?: string; at?: number; sent?: string }) => {
    const { secret = SECRET, at = Math.floor(Date.now() / 1_000), sent = body } = changes
    const signature = sign(secret, { id: 'a', at: String(at), body })
    const headers = { 'webhook-id': 'a', 'webhook-timestamp': String(at), 'webhook-signature': signature }
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: sent, headers })).status
  }
  assert.equal(await post({ secret: `whsec_${Buffer.alloc(32).toString('base64')}` }), 401)
  assert.equal(await post({ sent: body.replace('7', '8') }), 401)
  assert.equal(await post({ at: 1_700_000_000 }), 401)
  assert.equal(await post({}), 200)
  await waitFor('stdout', /^added 7 0x12 2$/m)
})

test('a JetStream has each message of a sink', NEEDS_NATS, async (t) => {
  const nats = await startNats(t)
  const { connect } = await import('@nats-io/transport-node')
  const { jetstreamManager } = await import('@nats-io/jetstream')
  const connection = await connect({ servers: nats.url })
  t.after(() => connection.close())
  const { datadir, options } = await writeSink(t, { events: ['erc20_transfer'] }, { isEmpty: true })
  const withoutSecret = options.filter((option, i) => option !== '--sink-secret' && options[i - 1] !== '--sink-secret')
  const { url } = await startCairn(t, ['--sink', `${nats.url}/cairn.events`, ...withoutSecret])
  assert.deepEqual((await healthOf(url)).block, null)
  await importFixture(datadir) // beside the server
  // No stream has the subject yet.
  const waiting = await untilValue(
    () => healthOf(url),
    ({ failures }) => failures > 0,
  )
  assert.match(waiting.problem!, /no stream stored a message of cairn\.events/)
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'EVENTS', subjects: ['cairn.events'] })
  await until(async () => (await healthOf(url)).state === 'following')
  const transfers = await resultOf<(SinkEvent & { decoded: { signature: string } | null })[]>(
    url,
    'cairn_getDecodedLogs',
    [
      {
        fromBlock: '0x0',
        toBlock: 'latest',
        topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'],
      },
    ],
  )
  const { state } = await manager.streams.info('EVENTS')
  const events: SinkEvent[] = []
  for (let sequence = 1; sequence <= state.messages; sequence++) {
    const stored = await manager.streams.getMessage('EVENTS', { seq: sequence })
    const { blocks } = stored!.json<Message>()
    events.push(...blocks.flatMap((block) => block.events ?? []))
  }
  assert.ok(events.length > 5)
  assert.deepEqual(
    events,
    transfers.filter(({ decoded }) => decoded?.name === 'Transfer'),
  )
})

test('options of sinks that do not fit are refused before the server starts', async (t) => {
  const { datadir, options } = await writeSink(t, { events: ['Tranfer'] })
  const filter = join(datadir, 'filter.json')
  const secret = join(datadir, 'secret')
  const common = ['serve', '--datadir', datadir, '--port', '0', '--open']
  for (const [own, message] of [
    [['--sink-secret', secret], /--sink-secret needs --sink/],
    [['--sink', 'http://127.0.0.1:1/'], /needs --sink-secret FILE/],
    [['--sink', 'ftp://127.0.0.1/'], /--sink: expected http/],
    [['--sink', 'nats://127.0.0.1:1'], /with a subject such as/],
    [['--sink', 'http://127.0.0.1:1/', '--sink-secret', filter], /expected whsec_ and base64/],
    [
      ['--sink', 'http://127.0.0.1:1/', ...options.slice(options.indexOf('--sink-secret'))],
      /no known event is named "Tranfer".*Transfer/,
    ],
  ] as const) {
    const { code, stderr } = await runCairn([...common, ...own])
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
})
