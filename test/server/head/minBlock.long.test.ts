import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import { DEFAULT_SERVER_LIMITS } from '../../../src/server/admission/limits.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { growBranch, LOGGER, openBranches } from '../../support/chains/branches.js'
import { sourceOf } from '../../support/chains/fixture.js'
import { seededRandom } from '../../support/random.js'
import { post, request, type startTestServer, testBothReaders } from '../../support/serving.js'
import { temporaryDirectory } from '../../support/temporary.js'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const NEVER_MS = 30_000

/** A server of Cairn's methods whose database another connection writes. */
async function serveWritten(
  t: TestContext,
  start: typeof startTestServer,
  { minBlockWaitMs, maxInFlight = 100 }: { minBlockWaitMs: number; maxInFlight?: number },
) {
  const serverLimits = { ...DEFAULT_SERVER_LIMITS, minBlockWaitMs, maxInFlight }
  const { url, datadir } = await start(t, { methodsModule: undefined, serverLimits })
  const ask = (body: unknown, minBlock?: string) =>
    post(url, body, { ...JSON_TYPE, ...(minBlock !== undefined && { 'Cairn-Min-Block': minBlock }) })
  return { url, datadir, ask }
}

/** Writes the blocks after those that are there. */
async function openWriter(t: TestContext, datadir: string) {
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  return {
    write: (blocks: readonly Block[]) => importBlocks(chain, sourceOf(blocks), { progress: noProgress }),
    rewind(number: number) {
      chain.head.rewind(number, { byOperator: true })
      chain.head.commit()
    },
  }
}

const grow = (t: TestContext, count: number) =>
  growBranch(temporaryDirectory(t), { trunk: [], count, random: seededRandom(4) })

testBothReaders('every response to calls names the newest block, once there is one', async (t, start) => {
  const { url, datadir, ask } = await serveWritten(t, start, { minBlockWaitMs: 0 })
  const headOf = async (body: unknown) => (await ask(body)).headers.get('cairn-head')
  assert.equal(await headOf(request('eth_chainId')), null)
  const trunk = await grow(t, 3)
  const writer = await openWriter(t, datadir)
  assert.equal(await headOf(request('eth_chainId')), '0')
  await writer.write(trunk)
  const bodies = [request('eth_blockNumber'), request('eth_getLogs', {}), [request('eth_chainId')], '{"jsonrpc', {}]
  for (const body of bodies) assert.equal(await headOf(body), '3')
  assert.equal((await ask({ jsonrpc: '2.0', method: 'eth_chainId' })).headers.get('cairn-head'), '3')
  const wrongType = await post(url, '{}', { 'Content-Type': 'text/plain' })
  assert.deepEqual([wrongType.status, wrongType.headers.get('cairn-head')], [415, '3'])
  writer.rewind(1)
  assert.equal(await headOf(request('eth_blockNumber')), '1')
  const { headers } = await post(url, request('eth_chainId'), { ...JSON_TYPE, Origin: 'https://a.example' })
  assert.equal(headers.get('access-control-expose-headers'), 'Retry-After, Cairn-Head')
})

testBothReaders('a request waits for its least block, and all its reads see that', async (t, start) => {
  const { datadir, ask } = await serveWritten(t, start, { minBlockWaitMs: NEVER_MS })
  const trunk = await grow(t, 12)
  const { write } = await openWriter(t, datadir)
  const call = { to: formatData(LOGGER), data: '0x' }
  // The methods run on the main thread, in its small calls, and in both kinds of reader threads.
  const methods = [
    request('eth_blockNumber'),
    request('eth_getBlockByNumber', 'latest', false),
    request('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }),
    request('eth_simulateV1', { blockStateCalls: [{ calls: [call] }] }, 'latest'),
    request('eth_getBlockReceipts', 'latest'),
  ]
  for (const [i, block] of trunk.entries()) {
    const number = i + 1
    const wanted = `0x${number.toString(16)}`
    const answers = [...methods, methods].map((body) => ask(body, String(number)))
    const early = await Promise.race([...answers, ask(request('eth_blockNumber'), String(number - 1))])
    assert.equal(early.json.result, `0x${(number - 1).toString(16)}`)
    await write([block])
    const [head, newest, logs, simulated, receipts, batch] = await Promise.all(answers)
    for (const answer of [head, newest, logs, simulated, receipts, batch]) {
      assert.deepEqual([answer.status, answer.headers.get('cairn-head')], [200, String(number)])
    }
    assert.equal(head.json.result, wanted)
    assert.equal((newest.json.result as { number: string }).number, wanted)
    const inBlock = (list: unknown) =>
      (list as { blockNumber: string }[]).filter(({ blockNumber }) => blockNumber === wanted).length
    const counts = block.transactions.length
    assert.equal(inBlock(receipts.json.result), counts)
    const logsOfReceipts = (receipts.json.result as { logs: unknown[] }[]).flatMap((receipt) => receipt.logs)
    assert.equal(inBlock(logs.json.result), logsOfReceipts.length)
    assert.equal((simulated.json.result as { number: string }[])[0].number, `0x${(number + 1).toString(16)}`)
    const single = [head, newest, logs, simulated, receipts].map(({ json }) => json.result)
    const withoutTimes = (results: unknown[]) => results.filter((_, place) => place !== 3)
    assert.deepEqual(withoutTimes(batch.json.map(({ result }) => result)), withoutTimes(single))
  }
})

testBothReaders('a request for a block that does not come gets 503 with head and block', async (t, start) => {
  for (const minBlockWaitMs of [0, 20]) {
    const { datadir, ask } = await serveWritten(t, start, { minBlockWaitMs })
    const missing = await ask({ ...request('eth_blockNumber'), id: 'a' }, '0')
    assert.equal(missing.status, 503)
    assert.deepEqual(missing.json, {
      jsonrpc: '2.0',
      id: 'a',
      error: {
        code: -32000,
        message: 'block 0 is not here yet, there are no blocks yet (Cairn-Min-Block)',
        data: { head: null, minBlock: '0x0' },
      },
    })
    const { write } = await openWriter(t, datadir)
    await write(await grow(t, 2))
    const error = {
      code: -32000,
      message: 'block 3 is not here yet, the newest block is 2 (Cairn-Min-Block)',
      data: { head: '0x2', minBlock: '0x3' },
    }
    const { status, headers, json } = await ask([request('eth_blockNumber'), { ...request('eth_chainId'), id: 2 }], '3')
    assert.deepEqual([status, headers.get('retry-after'), headers.get('cairn-head')], [503, '1', '2'])
    assert.deepEqual(
      json,
      [1, 2].map((id) => ({ jsonrpc: '2.0', id, error })),
    )
    assert.equal((await ask(request('eth_blockNumber'), '2')).json.result, '0x2')
  }
})

testBothReaders('a least block that is no number is refused with the name of the header', async (t, start) => {
  const { ask } = await serveWritten(t, start, { minBlockWaitMs: NEVER_MS })
  for (const value of ['', 'latest', '0x1', '-1', '1.5', '1, 2', '9'.repeat(40)]) {
    const { status, json } = await ask(request('eth_blockNumber'), value)
    assert.deepEqual([status, json.error?.code], [400, -32600])
    assert.match(json.error!.message, /^Cairn-Min-Block: expected a block number in decimal, got "/)
  }
})

testBothReaders('requests that wait count against the requests in flight of their client', async (t, start) => {
  const { datadir, ask } = await serveWritten(t, start, { minBlockWaitMs: NEVER_MS, maxInFlight: 2 })
  const waiting = [1, 2].map(() => ask(request('eth_blockNumber'), '1'))
  // One that asks for nothing is answered; the third that would wait is not. It may come before the others do.
  assert.equal((await ask(request('eth_blockNumber'))).status, 200)
  const third = ask(request('eth_blockNumber'), '1')
  const refused = await Promise.race([...waiting, third])
  assert.deepEqual([refused.status, refused.json.error?.message], [429, 'too many requests under way'])
  const { write } = await openWriter(t, datadir)
  await write(await grow(t, 1))
  const answers = await Promise.all([...waiting, third])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 429])
  // Their places are free again.
  const again = await Promise.all([1, 2].map(() => ask(request('eth_blockNumber'), '1')))
  assert.deepEqual(
    again.map(({ json }) => json.result),
    ['0x1', '0x1'],
  )
})
