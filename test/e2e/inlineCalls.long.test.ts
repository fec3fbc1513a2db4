import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { startAllThreads } from '../support/allThreads.js'
import { type CairnServer, runCairnOk, serveFixture, startCairn } from '../support/cairn.js'
import { encodeChain, fixtureBlocks } from '../support/chains/fixture.js'
import { ALICE, BALANCES, REVERTER, TOKEN } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Small calls are run by the thread that takes requests: to the same bytes as by a thread for calls. */

interface Counts {
  answered: number
  brokenOff: number
}

/** What the server says of its calls; null until it runs any itself. */
async function counts(server: CairnServer): Promise<Counts | null> {
  const { inlineCalls } = (await (await fetch(`${server.url}/health`)).json()) as { inlineCalls: Counts | null }
  return inlineCalls
}

/** Waits until the server runs calls itself. */
async function untilInline(server: CairnServer): Promise<CairnServer> {
  while ((await counts(server)) === null) await post(server, balanceOfAlice('latest'))
  return server
}

async function post(server: CairnServer, body: unknown): Promise<string> {
  const headers = { 'Content-Type': 'application/json' }
  return (await fetch(server.url, { method: 'POST', headers, body: JSON.stringify(body) })).text()
}

const makeCall = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })
const balanceOfAlice = (block: string) =>
  makeCall('eth_call', { to: TOKEN, data: `0x70a08231${ALICE.slice(2).padStart(64, '0')}` }, block)

const NO_CACHE = ['--response-cache', '0']
const inline = await untilInline(await serveFixture({ after }, NO_CACHE))
const threaded = await serveFixture({ after }, [...NO_CACHE, '--inline-calls', 'off'])

/** The recorded requests of calls. */
function recordedCalls(): { name: string; request: object }[] {
  return ['eth_call', 'eth_estimateGas'].flatMap((method) => {
    const folder = packagePath(`fixtures/rpc/${method}`)
    return readdirSync(folder).map((file) => {
      const { request } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      return { name: `${method}/${file}`, request }
    })
  })
}

test('every recorded call is answered with the same bytes, again and in a batch too', async () => {
  const before = (await counts(inline))!.answered
  const recorded = recordedCalls()
  for (let round = 0; round < 3; round++) {
    for (const { name, request } of recorded) {
      assert.equal(await post(inline, request), await post(threaded, request), name)
    }
  }
  const batch = recorded.map(({ request }) => request)
  assert.equal(await post(inline, batch), await post(threaded, batch))
  const answered = (await counts(inline))!.answered - before
  assert.ok(answered > recorded.length, `${answered} of ${recorded.length * 4} calls were answered by the main thread`)
  assert.equal(await counts(threaded), null)
})

test('failures of all kinds come out the same', async () => {
  const calls: unknown[][] = [
    [{ to: REVERTER, data: '0x' }],
    [{ to: TOKEN, data: '0x18160ddd', gas: '0x5300' }],
    [{ to: TOKEN, data: '0x18160ddd', gas: '0x1' }],
    [{ to: TOKEN, data: '0x18160ddd', from: ALICE, value: `0x${'f'.repeat(30)}` }],
    [{ to: TOKEN, data: '0x18160dd' }],
    [{ to: '0x12', data: '0x18160ddd' }],
    [{ to: TOKEN, data: '0x18160ddd', input: '0x18160dde' }],
    [{ to: TOKEN, data: '0x18160ddd', chainId: '0x1' }],
    [{ to: TOKEN, data: '0x18160ddd' }, '0x9999'],
    [{ to: TOKEN, data: '0x18160ddd' }, `0x${'ab'.repeat(32)}`],
    [{ to: TOKEN, data: '0x18160ddd' }, 'newest'],
    [{ to: TOKEN, gasPrice: '0x1', maxFeePerGas: '0x2' }],
    [{ to: `0x${'08'.padStart(40, '0')}`, data: `0x${'00'.repeat(192)}` }],
    [{ to: `0x${'01'.padStart(40, '0')}`, data: `0x${'00'.repeat(128)}` }],
    [{ data: '0x600160005260206000f3' }],
    [{ to: TOKEN, accessList: [{ address: TOKEN, storageKeys: [`0x${'00'.repeat(32)}`] }] }],
    [[]],
    [],
  ]
  for (const params of calls) {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      const request = makeCall(method, ...params)
      assert.equal(await post(inline, request), await post(threaded, request), JSON.stringify(request))
    }
  }
})

test('a loop without end goes to a thread and stops at its time; others are answered meanwhile', async (t) => {
  const options = [...NO_CACHE, '--evm-threads', '2', '--call-timeout', '300', '--gas-cap', '100000']
  const server = await untilInline(await serveFixture(t, options))
  await startAllThreads(server.url, 5)
  const before = (await counts(server))!
  let spinning = true
  const spin = makeCall('eth_call', { to: REVERTER, data: '0xf0acd7d5', gas: '0x2540be400' }, 'latest')
  const stopped = post(server, spin).finally(() => {
    spinning = false
  })
  let meanwhile = 0
  while (spinning) {
    const { result } = JSON.parse(await post(server, balanceOfAlice('latest')))
    assert.equal(BigInt(result), BALANCES[ALICE])
    if (spinning) meanwhile++
  }
  assert.deepEqual(JSON.parse(await stopped).error, {
    code: -32000,
    message: 'execution aborted (timeout = 0.3s)',
  })
  assert.ok(meanwhile > 0)
  assert.ok((await counts(server))!.brokenOff > before.brokenOff)
  // Sooner or later: the first runs of code take long.
  while ((await counts(server))!.answered === before.answered) await post(server, balanceOfAlice('latest'))
})

test('calls are made on the block that is the head then, while blocks are imported', async (t) => {
  const datadir = temporaryDirectory(t)
  const folder = packagePath('fixtures/chain')
  const blocks = fixtureBlocks()
  const importUpTo = async (last: number) => {
    const file = join(temporaryDirectory(t), 'chain.rlp')
    writeFileSync(file, encodeChain(blocks.filter(({ header }) => header.number <= last)))
    await runCairnOk(['import', '--datadir', datadir, '--genesis', `${folder}/genesis.json`, file])
  }
  await importUpTo(20)
  const server = await untilInline(await startCairn(t, ['--open', '--datadir', datadir, ...NO_CACHE]))
  for (const last of [20, 30, 45, 60]) {
    let importing = last > 20
    const imported = last > 20 ? importUpTo(last).finally(() => (importing = false)) : undefined
    do {
      const batch = [makeCall('eth_blockNumber'), balanceOfAlice('latest')]
      const [from, balance] = (JSON.parse(await post(server, batch)) as { result: string }[]).map(
        ({ result }) => result,
      )
      // A call of a batch may go to a thread and see a later head; a request after the answer sees that head too.
      if (from !== JSON.parse(await post(server, makeCall('eth_blockNumber'))).result) continue
      const known = JSON.parse(await post(inline, balanceOfAlice(from))).result
      assert.equal(balance, known, `at block ${Number(from)}`)
    } while (importing)
    await imported
    const { result } = JSON.parse(await post(server, makeCall('eth_blockNumber')))
    assert.equal(Number(result), last)
    const known = JSON.parse(await post(inline, balanceOfAlice(result))).result
    assert.equal(JSON.parse(await post(server, balanceOfAlice('latest'))).result, known)
  }
  assert.ok((await counts(server))!.answered > 0)
})

test('with the reference interpreter no call is run by the main thread', async (t) => {
  const server = await serveFixture(t, ['--evm', 'reference'])
  for (let i = 0; i < 3; i++) await post(server, balanceOfAlice('latest'))
  assert.equal(await counts(server), null)
})
