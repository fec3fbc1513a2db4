import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { startServing } from '../../../src/cli/serving.js'
import { formatData } from '../../../src/lib/hex.js'
import { createFrameReader, readBlockFrame, type StreamFrame } from '../../../src/replication/http/frames.js'
import { DEFAULT_REPLICATION_LIMITS, type ReplicationLimits } from '../../../src/replication/http/replicationLimits.js'
import { createApiKeyTable } from '../../../src/store/keys/apiKeys.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { fixtureBlocks } from '../../support/chains/fixture.js'
import { copyDatabase, importFixture } from '../../support/chains/fixtureDatabase.js'
import { decodeReplicatedBlock } from '../../support/nats/decodeReplicatedBlock.js'
import { post, request, servingOptions } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'

const imported = temporaryDirectory({ after })
before(() => importFixture(imported))

async function serve(t: TestContext, limits: Partial<ReplicationLimits> = {}, open = true) {
  const datadir = copyDatabase(t, imported)
  const replication = { ...DEFAULT_REPLICATION_LIMITS, ...limits }
  const serving = await startServing({ ...servingOptions(datadir), open, replication })
  t.after(() => serving.close())
  return { datadir, url: serving.url, close: serving.close }
}

/** The response to a GET, as soon as it begins. */
function begin(t: TestContext, url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent: false, headers }, resolve).on('error', reject)
    t.after(() => void sent.destroy())
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece as string
  return text
}

/** The first frames of a response. */
async function framesOf(response: IncomingMessage, count: number): Promise<StreamFrame[]> {
  const reader = createFrameReader()
  const frames: StreamFrame[] = []
  for await (const piece of response) {
    frames.push(...reader.push(piece as Buffer))
    if (frames.length >= count) break
  }
  return frames.slice(0, count)
}

test('a replica gets every block from the one that it names on', async (t) => {
  const { url } = await serve(t)
  const blocks = fixtureBlocks()
  const response = await begin(t, `${url}/replication?from=1`)
  assert.equal(response.statusCode, 200)
  const [greeting, ...frames] = await framesOf(response, blocks.length + 1)
  assert.equal(greeting.head.format, 1)
  assert.equal(greeting.head.genesis, formatData(blocks[0].header.parentHash))
  const hashes = frames.map((frame) => decodeReplicatedBlock(readBlockFrame(frame)).block.hash)
  assert.deepEqual(
    hashes.map(formatData),
    blocks.map(({ hash }) => formatData(hash)),
  )
})

test('a place to begin that is none is refused with the reason', async (t) => {
  const { url } = await serve(t)
  const head = fixtureBlocks().length
  const refused: [string, number, RegExp][] = [
    ['', 400, /expected \?from=NUMBER or \?locator=NUMBER:HASH/],
    ['?from=x', 400, /from: expected a block number, got x/],
    ['?locator=5', 400, /locator: expected NUMBER:HASH, got 5/],
    [
      `?locator=${Array.from({ length: 33 }, (_, i) => `${i}:0x${'00'.repeat(32)}`).join()}`,
      400,
      /at most 32 blocks, got 33/,
    ],
    [`?locator=1:0x${'00'.repeat(32)}`, 409, /no block of the locator is on this chain/],
    [`?from=${head + 2}`, 409, new RegExp(`blocks from ${head + 2} on are not available.*the newest block is ${head}`)],
    ['?from=0', 409, /blocks from 0 on are not available/],
  ]
  for (const [query, status, reason] of refused) {
    const response = await begin(t, `${url}/replication${query}`)
    assert.equal(response.statusCode, status, query)
    assert.match(await textOf(response), reason)
  }
  const { status, text } = await post(`${url}/replication`, '')
  assert.deepEqual([status, text], [405, '{"error":"method not allowed, use GET"}'])
})

test('without the option there is no such path', async (t) => {
  const serving = await startServing(servingOptions(copyDatabase(t, imported)))
  t.after(() => serving.close())
  assert.equal((await begin(t, `${serving.url}/replication?from=1`)).statusCode, 404)
})

test('a key is needed, one whose methods allow replication', async (t) => {
  const { datadir, url } = await serve(t, {}, false)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const keys = createApiKeyTable(db)
  const right = keys.create('right').key
  const narrow = keys.create('narrow', { methods: ['eth_*'] }).key
  const statusOf = async (path: string, headers = {}) => (await begin(t, `${url}${path}?from=1`, headers)).statusCode
  assert.equal(await statusOf('/replication'), 401)
  assert.equal(await statusOf(`/replication/${'0'.repeat(32)}`), 401)
  assert.equal(await statusOf(`/replication/${narrow}`), 403)
  assert.equal(await statusOf('/replication', { authorization: `Bearer ${right}` }), 200)
})

test('a stream more than the limit is refused, until one ends', async (t) => {
  const { url } = await serve(t, { streams: 1 })
  const first = await begin(t, `${url}/replication?from=1`)
  assert.equal(first.statusCode, 200)
  const second = await begin(t, `${url}/replication?from=1`)
  assert.deepEqual([second.statusCode, second.headers['retry-after']], [503, '5'])
  assert.match(await textOf(second), /1 replicas are connected already/)
  first.destroy()
  let status: number | undefined
  while (status !== 200) status = (await begin(t, `${url}/replication?from=1`)).statusCode
})

test('a stream ends at its time limit between two frames', async (t) => {
  const { url } = await serve(t, { streamMs: 1 })
  const response = await begin(t, `${url}/replication?from=1`)
  const reader = createFrameReader()
  let frames = 0
  for await (const piece of response) frames += [...reader.push(piece as Buffer)].length
  reader.end()
  assert.ok(frames >= 1)
})

test('a server that stops ends its streams at once, and a client that does not read delays no other client', async (t) => {
  const { url, close } = await serve(t)
  const idle = await begin(t, `${url}/replication?from=1`)
  idle.pause()
  const reading = await begin(t, `${url}/replication?from=1`)
  assert.equal((await framesOf(reading, 40)).length, 40)
  assert.ok('result' in (await post(url, request('eth_blockNumber'))).json)
  await close()
})
