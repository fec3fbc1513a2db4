import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { encodeChain, fixtureBlocks } from '../support/chains/fixture.js'
import { EMITTER, NUMBERED_TOPIC } from '../support/chains/fixtureChain.js'
import { openSocket } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Answers that are given again, and compressed ones, from the program. */

const MIDDLE = 55
const FOLDER = packagePath('fixtures/chain')

function post(url: string, filter: object, acceptEncoding: string): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] })
  const headers = { 'Content-Type': 'application/json', 'Accept-Encoding': acceptEncoding }
  return fetch(url, { method: 'POST', headers, body })
}

/** The text of the answer, which came as it is. */
async function askText(url: string, filter: object): Promise<string> {
  const response = await post(url, filter, 'identity')
  assert.equal(response.headers.get('content-encoding'), null)
  return response.text()
}

async function counts(url: string): Promise<{ hits: number; misses: number }> {
  const { responseCache } = (await (await fetch(`${url}/health`)).json()) as { responseCache: never }
  return responseCache
}

/** The chain up to the block, in a directory of its own. */
async function importUpTo(t: Parameters<typeof temporaryDirectory>[0], last: number): Promise<string> {
  const datadir = temporaryDirectory(t)
  const file = join(temporaryDirectory(t), 'chain.rlp')
  writeFileSync(file, encodeChain(fixtureBlocks().filter(({ header }) => header.number <= last)))
  await runCairnOk(['import', '--datadir', datadir, '--genesis', `${FOLDER}/genesis.json`, file])
  return datadir
}

/** Each of blocks 54 to 58 has 2,100 logs, one of them with this number. */
const NUMBER = `0x${'7'.padStart(64, '0')}`

const FILTERS = {
  whole: { address: EMITTER, topics: [NUMBERED_TOPIC, NUMBER], fromBlock: '0x0', toBlock: 'latest' },
  old: { address: EMITTER, fromBlock: '0x0', toBlock: '0x20' },
  head: {},
  refused: { fromBlock: '0x1', toBlock: '0x37', topics: [[NUMBERED_TOPIC]] },
}

test('answers are given again with the same bytes, until the chain has grown', async (t) => {
  const datadir = await importUpTo(t, MIDDLE)
  const options = ['--open', '--datadir', datadir, '--max-logs', '4000']
  const cached = await startCairn(t, options)
  const plain = await startCairn(t, [...options, '--response-cache', '0'])
  assert.equal(await counts(plain.url), null)
  const askBoth = async (filter: object) => {
    const text = await askText(cached.url, filter)
    assert.equal(text, await askText(plain.url, filter))
    return text
  }
  const first = new Map<string, string>()
  for (const [name, filter] of Object.entries(FILTERS)) first.set(name, await askBoth(filter))
  assert.match(first.get('refused')!, /"code":-32005,"message":"query returned more than 4000 results"/)
  assert.ok((JSON.parse(first.get('old')!) as { result: unknown[] }).result.length > 10)
  const before = await counts(cached.url)
  assert.deepEqual([before.hits, before.misses], [0, 4])
  for (const [name, filter] of Object.entries(FILTERS)) assert.equal(await askBoth(filter), first.get(name))
  const again = await counts(cached.url)
  assert.deepEqual([again.hits, again.misses], [4, 4])

  await runCairnOk(['import', '--datadir', datadir, join(FOLDER, 'chain.rlp')])
  // Queries that end below the old head are still answered from memory; those up to the head run again.
  assert.equal(await askBoth(FILTERS.old), first.get('old'))
  assert.equal(await askBoth(FILTERS.refused), first.get('refused'))
  assert.deepEqual([(await counts(cached.url)).hits, (await counts(cached.url)).misses], [6, 4])
  assert.notEqual(await askBoth(FILTERS.head), first.get('head'))
  const resultsOf = (text: string) => (JSON.parse(text) as { result: unknown[] }).result.length
  assert.equal(resultsOf(await askBoth(FILTERS.whole)), resultsOf(first.get('whole')!) + 3)
  const upToOldHead = { ...FILTERS.whole, toBlock: `0x${MIDDLE.toString(16)}` }
  assert.equal(await askBoth(upToOldHead), first.get('whole'))
  assert.deepEqual([(await counts(cached.url)).hits, (await counts(cached.url)).misses], [7, 6])
})

test('a batch and a socket are answered from the same memory, equal calls in a batch by one run', async (t) => {
  const { url, socketUrl } = await startCairn(t, ['--fixture', FOLDER])
  const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_getLogs', params: [FILTERS.old] })
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify([1, 2, 3, 4].map(call)),
  })
  const answers = (await response.json()) as { id: number; result: unknown[] }[]
  assert.deepEqual(
    answers.map(({ id }) => id),
    [1, 2, 3, 4],
  )
  for (const { result } of answers) assert.deepEqual(result, answers[0].result)
  const socket = await openSocket(socketUrl)
  assert.deepEqual((await socket.send(call(5))).result, answers[0].result)
  await socket.close()
  const { hits, misses } = await counts(url)
  assert.deepEqual([hits, misses], [4, 1])
})

test('an answer from memory is compressed for who takes it, and unpacks to the same', async (t) => {
  const { url } = await startCairn(t, ['--fixture', FOLDER, '--compress', 'on'])
  const filter = { fromBlock: '0x36', toBlock: '0x39', address: EMITTER }
  const plain = await askText(url, filter)
  assert.ok(plain.length > 1_000_000)
  for (const coding of ['gzip', 'br']) {
    const response = await post(url, filter, coding)
    assert.equal(response.headers.get('content-encoding'), coding)
    assert.ok(Number(response.headers.get('content-length')) < plain.length / 4)
    assert.equal(await response.text(), plain)
  }
  assert.deepEqual([(await counts(url)).hits, (await counts(url)).misses], [2, 1])
})
