import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER, fixtureBlocks, fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { openFixtureAnswers } from '../support/chains/fixtureAnswers.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { type Answer, ask, resultOf, send } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until, untilBlockNumber, untilValue } from '../support/until.js'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/upstream/scriptedUpstream.js'

/* Where following begins, and what is said of blocks that are not available yet. */

const GENESIS = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
const FILE_HEAD = 20

const { answers } = await openFixtureAnswers({ after })

/** A database with the blocks of a file that ends early, and an upstream that has more. */
async function importBeginning(t: TestContext): Promise<{ datadir: string; upstream: ScriptedUpstream }> {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute')
  await importBlocks(chain, sourceOf(fixtureBlocks().slice(0, FILE_HEAD)), { progress: noProgress })
  db.close()
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  return { datadir, upstream }
}

interface Health {
  coverage: { first: number; head: number; gap: { from: number; to: number } | null }
}

const healthOf = async (url: string) => (await (await fetch(`${url}/health`)).json()) as Health

test('a gap between files and upstream is reported while it is filled; its blocks are refused, not null', async (t) => {
  const { datadir, upstream } = await importBeginning(t)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  upstream.fault = {
    name: 'is slow from block 41 on',
    result: async ({ method, params }, result) => {
      if (method === 'debug_getRawBlock' && Number(params[0]) > 40) await released
      return result
    },
  }
  const { url } = await startCairn(t, ['--datadir', datadir, '--open', '--upstream', upstream.url])
  const { head, gap } = await untilValue(
    async () => (await healthOf(url)).coverage,
    (coverage) => coverage.gap !== null,
  )
  assert.ok(head >= FILE_HEAD && head < HEAD)
  assert.deepEqual(gap, { from: head + 1, to: HEAD })
  assert.match(
    await runCairnOk(['status', '--datadir', datadir]),
    new RegExp(`^blocks +0 to ${head}; ${head + 1} to ${HEAD} are still to be fetched from the upstream$`, 'm'),
  )
  const capabilities = await resultOf<{ head: { number: string } }>(url, 'eth_capabilities')
  assert.equal(Number(capabilities.head.number), head)

  const missing = fixtureBlocks().findLast(({ transactions }) => transactions.length > 0)!
  const at = `0x${missing.header.number.toString(16)}`
  const unavailable = {
    code: -32000,
    message: `block ${missing.header.number} is not available, blocks 0 to ${head} are`,
  }
  for (const [method, ...rest] of [
    ['eth_getBlockByNumber', false],
    ['eth_getBlockReceipts'],
    ['eth_getBlockTransactionCountByNumber'],
    ['eth_getTransactionByBlockNumberAndIndex', '0x0'],
    ['eth_getUncleCountByBlockNumber'],
    ['debug_getRawReceipts'],
  ] as const) {
    assert.deepEqual((await ask(url, method, [at, ...rest])).error, unavailable, method)
  }
  const message = `not found in blocks 0 to ${head}; blocks up to ${HEAD} are still to be fetched`
  const [blockHash, transactionHash] = [formatData(missing.hash), formatData(missing.transactions[0].hash)]
  for (const [method, ...params] of [
    ['eth_getBlockByHash', blockHash, false],
    ['eth_getBlockReceipts', blockHash],
    ['eth_getTransactionByBlockHashAndIndex', blockHash, '0x0'],
    ['eth_getTransactionByHash', transactionHash],
    ['eth_getTransactionReceipt', transactionHash],
    ['debug_getRawTransaction', transactionHash],
  ] as const) {
    assert.deepEqual((await ask(url, method, params)).error, { code: -32000, message }, method)
  }
  assert.equal(await resultOf(url, 'eth_getBlockByNumber', [`0x${(HEAD + 1).toString(16)}`, false]), null)

  release()
  await until(async () => (await healthOf(url)).coverage.head === HEAD)
  assert.deepEqual((await healthOf(url)).coverage, { first: 0, head: HEAD, stateFirst: 0, gap: null })
  const asks = Array.from({ length: HEAD + 1 }, (_, number) => {
    const params = [`0x${number.toString(16)}`, true]
    return { jsonrpc: '2.0', id: number, method: 'eth_getBlockByNumber', params }
  })
  for (const [i, { result }] of ((await send(url, asks)) as unknown as Answer[]).entries()) {
    assert.deepEqual(result, await answers.result(asks[i].method, asks[i].params))
  }
  assert.equal(await resultOf(url, 'eth_getTransactionByHash', [`0x${'5'.repeat(64)}`]), null)
})

test('below the first block, the parent of that block is refused by hash; of an unknown hash the answer is null', async (t) => {
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  const args = ['--state', 'none', '--from', '40', '--upstream', upstream.wsUrl]
  const { url } = await startCairn(t, ['--datadir', temporaryDirectory(t), ...GENESIS, '--open', ...args])
  await untilBlockNumber({ url }, HEAD)
  const blocks = fixtureBlocks()
  const hashOf = (number: number) => formatData(blocks[number - 1].hash)
  const parent = (await ask(url, 'eth_getBlockByHash', [hashOf(39), false])).error
  assert.deepEqual(parent, { code: -32000, message: `block 39 is not available, blocks 40 to ${HEAD} are` })
  assert.equal(await resultOf(url, 'eth_getBlockByHash', [hashOf(38), false]), null)
  assert.deepEqual(await resultOf(url, 'eth_capabilities'), {
    head: { number: `0x${HEAD.toString(16)}`, hash: hashOf(HEAD) },
    state: { disabled: true },
    ...Object.fromEntries(
      ['tx', 'logs', 'receipts', 'blocks'].map((name) => [name, { disabled: false, oldestBlock: '0x28' }]),
    ),
    stateproofs: { disabled: true },
  })
})
