import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { startCairn } from '../support/cairn.js'
import { ALICE, TOKEN, TRANSFER_TOPIC } from '../support/chains/fixtureChain.js'
import { resultOf } from '../support/rpcClient.js'
import { startTestServer, TEST_METHODS } from '../support/serving.js'
import { temporaryDirectory } from '../support/temporary.js'

interface Health {
  ready: boolean
  threads: { living: number; warm: number }
  inlineCalls: { answered: number; brokenOff: number } | null
}

const get = async (url: string) => {
  const response = await fetch(url)
  return { status: response.status, body: (await response.json()) as Health }
}

test('once it says ready, the first calls and log queries load no module', async (t) => {
  const log = join(temporaryDirectory(t), 'modules')
  const preload = fileURLToPath(new URL('../support/moduleLog.js', import.meta.url))
  const env = { NODE_OPTIONS: `--import ${preload}`, TEST_MODULE_LOG: log }
  const args = ['--fixture', packagePath('fixtures/chain'), '--evm-threads', '2', '--scan-threads', '2']
  const { url } = await startCairn(t, args, env)
  const { status } = await get(`${url}/ready`)
  const { body: health } = await get(`${url}/health`)
  assert.deepEqual([status, health.ready], [200, true])
  assert.deepEqual(health.threads, { living: 1, warm: 1, lost: 0 })
  assert.deepEqual(health.inlineCalls, { answered: 0, brokenOff: 0 })
  const imports = () => [...readFileSync(log, 'utf8').matchAll(/^thread (\d+) imported (.+)$/gm)]
  const atReady = imports()
  assert.ok(atReady.some(([line]) => /^thread [1-9]\d* imported .*cli\/readerThread\.js/.test(line)))

  const balance = `0x70a08231${ALICE.slice(2).padStart(64, '0')}`
  const recover = { to: `0x${'1'.padStart(40, '0')}`, data: `0x${'11'.repeat(128)}` }
  /** Small calls, calls that only threads run, and log queries, which no cache has. */
  const askEach = async (i: number) => {
    const from = `0x${String(i).padStart(40, '0')}`
    await resultOf(url, 'eth_call', [{ from, to: TOKEN, data: balance }, 'latest'])
    await resultOf(url, 'eth_call', [{ ...recover, from }, 'latest'])
    await resultOf(url, 'eth_estimateGas', [{ from, to: TOKEN, data: balance }, 'latest'])
    const range = { fromBlock: `0x${(i % 8).toString(16)}`, toBlock: 'latest' }
    await resultOf(url, 'eth_getLogs', [{ ...range, address: TOKEN, topics: [TRANSFER_TOPIC] }])
  }
  // On a busy machine the main thread may break off every small call.
  let asked = 0
  for (let ranInBoth = false; !ranInBoth; ) {
    await askEach(asked++)
    const { answered, brokenOff } = (await get(`${url}/health`)).body.inlineCalls!
    ranInBoth = answered > 0 && brokenOff > 0
  }
  const early = new Set(atReady.map(([, thread]) => thread))
  const ofEarly = imports().filter(([, thread, module]) => early.has(thread) && module.startsWith('file:'))
  assert.deepEqual(
    ofEarly,
    atReady.filter(([, , module]) => module.startsWith('file:')),
  )

  // More requests at a time than there are threads start the others, which load all that they need before their first
  // request.
  const askAll = () => Promise.all(Array.from({ length: 8 }, () => askEach(asked++)))
  const warm = () => get(`${url}/health`).then(({ body }) => body.threads.warm)
  while ((await warm()) < 6) await askAll()
  const loaded = readFileSync(log, 'utf8')
  // The build bundles what a thread loads: from source it was 400 modules. Each kind of thread adds some chunks that
  // others share with it.
  const counts = new Map<string, number>()
  for (const [, thread, module] of imports()) {
    if (module.startsWith('file:')) counts.set(thread, (counts.get(thread) ?? 0) + 1)
  }
  assert.ok(counts.size >= 6, `only threads ${[...counts.keys()]} loaded modules`)
  for (const [thread, count] of counts) assert.ok(count < 300, `thread ${thread} loaded ${count} modules`)
  for (let i = 0; i < 4; i++) await askAll()
  assert.equal(readFileSync(log, 'utf8').slice(loaded.length), '')
})

test('a server is not ready before its threads are warm, and answers what needs none', async (t) => {
  const folder = temporaryDirectory(t)
  const [gate, methods] = [join(folder, 'open'), join(folder, 'methods.mjs')]
  // The tests' methods, which threads get once the gate is open.
  writeFileSync(
    methods,
    `import { existsSync } from 'node:fs'
     import { isMainThread } from 'node:worker_threads'
     export { METHODS } from ${JSON.stringify(TEST_METHODS)}
     while (!isMainThread && !existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 1))`,
  )
  const server = await startTestServer(t, { methodsModule: new URL(`file://${methods}`).href })
  assert.deepEqual(await get(`${server.url}/ready`), { status: 503, body: { ready: false, problem: null } })
  assert.equal((await get(`${server.url}/health`)).body.ready, false)
  assert.equal(await resultOf(server.url, 'test_echo', ['here']), 'here')

  writeFileSync(gate, '')
  await server.warm()
  assert.deepEqual(await get(`${server.url}/ready`), { status: 200, body: { ready: true, problem: null } })
  assert.ok((await get(`${server.url}/health`)).body.threads.warm >= 1)
})
