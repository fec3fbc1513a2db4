import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER, fixtureBlocks } from '../support/chains/fixture.js'
import { openFixtureAnswers } from '../support/chains/fixtureAnswers.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilValue } from '../support/until.js'
import { startScriptedUpstream } from '../support/upstream/scriptedUpstream.js'

type Json = Record<string, unknown>
interface BlockJson extends Json {
  transactions: Json[]
}

const quantity = (value: number) => `0x${value.toString(16)}`

/** A server with --pending, whose upstream's next block is one of the fixture's with several transactions. */
async function startWithPending(t: TestContext) {
  const blocks = fixtureBlocks()
  const next = blocks.findLast(({ transactions }) => transactions.length > 1)!.header.number
  const { answers } = await openFixtureAnswers(t)
  const block = (await answers.result('eth_getBlockByNumber', [quantity(next), true])) as BlockJson
  const transactions = block.transactions.map(({ blockTimestamp: _, ...rest }) => {
    return { ...rest, blockHash: null, blockNumber: null, transactionIndex: null } as Json
  })
  const pending: BlockJson = { ...block, hash: null, nonce: null, logsBloom: null, transactions }
  const upstream = await startScriptedUpstream({ ...answers, head: next - 1 })
  const says = (value: unknown) => {
    upstream.fault = { name: 'pending', result: ({ params }, right) => (params[0] === 'pending' ? value : right) }
  }
  says(pending)
  t.after(upstream.close)
  const genesis = join(FIXTURE_FOLDER, 'genesis.json')
  const args = ['--datadir', temporaryDirectory(t), '--genesis', genesis, '--open', '--pending']
  const { url } = await startCairn(t, [...args, '--upstream', upstream.wsUrl])
  const read = (whole = false) => resultOf<BlockJson>(url, 'eth_getBlockByNumber', ['pending', whole])
  const hasTransactions = async (count: number) => {
    await untilValue(
      async () => (await ask(url, 'eth_getBlockByNumber', ['pending', false])).result as BlockJson | undefined,
      (block) => block?.transactions.length === count,
    )
  }
  await hasTransactions(transactions.length)
  return { url, upstream, pending, block, transactions, next, says, read, hasTransactions }
}

test("with --pending the upstream's pending block is served, and its transactions by index and hash", async (t) => {
  const { url, pending, block, transactions, read, upstream, next, hasTransactions } = await startWithPending(t)
  // The specification's form; `requests` and the like are as in the upstream's header.
  assert.deepEqual(await read(true), { ...pending, number: null })
  assert.deepEqual(
    (await read()).transactions,
    transactions.map(({ hash }) => hash),
  )
  assert.equal(Number(await resultOf(url, 'eth_getBlockTransactionCountByNumber', ['pending'])), transactions.length)
  assert.deepEqual(await resultOf(url, 'eth_getTransactionByBlockNumberAndIndex', ['pending', '0x1']), transactions[1])
  assert.equal(await resultOf(url, 'eth_getTransactionByBlockNumberAndIndex', ['pending', '0xff']), null)
  assert.deepEqual(await resultOf(url, 'eth_getTransactionByHash', [transactions[0].hash]), transactions[0])
  assert.equal(await resultOf(url, 'eth_getTransactionReceipt', [transactions[0].hash]), null)
  await upstream.announce(next)
  await hasTransactions(0) // the next one would be on top of this one, and the upstream still names the old one
  const mined = await resultOf<Json>(url, 'eth_getTransactionByHash', [transactions[0].hash])
  assert.equal(mined.blockHash, block.hash)
})

test('a pending block that is wrong, or not on top of our head, is replaced by an empty one, and its upstream stays', async (t) => {
  const { url, pending, says, read, hasTransactions } = await startWithPending(t)
  const [first, ...others] = pending.transactions
  const wrong = [
    { ...pending, transactions: [{ ...first, value: '0x123456' }, ...others] },
    { ...pending, parentHash: `0x${'11'.repeat(32)}` },
  ]
  for (const value of wrong) {
    says(value)
    await hasTransactions(0)
    assert.equal((await read()).parentHash, pending.parentHash)
    says(pending)
    await hasTransactions(pending.transactions.length)
  }
  const { following } = (await (await fetch(`${url}/health`)).json()) as { following: { upstreams: Json[] } }
  assert.deepEqual([following.upstreams[0].state, following.upstreams[0].invalidResponses], ['ok', 0])
})
