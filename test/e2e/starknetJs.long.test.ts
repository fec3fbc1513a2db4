import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { RpcProvider } from 'starknet'
import { packagePath } from '../../src/store/open.js'
import { serveFixture } from '../support/cairn.js'

/* starknet.js, which checks the version of the specification that it is answered by, against the program. */

const server = await serveFixture({ after })
const provider = await RpcProvider.create({ nodeUrl: server.url })

/** The layer-2 blocks of the bundled fixture as they were written: eight confirmed ones and an unconfirmed one. */
const recorded = readFileSync(packagePath('fixtures/chain/l2.ndjson'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const json = JSON.parse(line)
    const block = json.block ?? json // the newest one is whole
    const hashOf = (each: string | { receipt: { transaction_hash: string } }) =>
      typeof each === 'string' ? each : each.receipt.transaction_hash
    return { ...block, transactions: block.transactions.map(hashOf) }
  })
const confirmed = recorded.slice(0, -1)
const unconfirmed = recorded.at(-1)

test('starknet.js finds a version of the specification that it speaks', async () => {
  assert.equal(await provider.getSpecVersion(), '0.9.0')
})

test('starknet.js reads the head', async () => {
  assert.equal(await provider.getBlockNumber(), 7)
  assert.deepEqual(await provider.getBlockLatestAccepted(), { block_hash: confirmed[7].block_hash, block_number: 7 })
  assert.equal(await provider.getSyncingStats(), false)
})

test('starknet.js reads every block by number and by hash', async () => {
  assert.equal(confirmed.length, 8)
  for (const block of confirmed) {
    const byNumber = await provider.getBlockWithTxHashes(block.block_number)
    assert.deepEqual(byNumber, block)
    assert.deepEqual(await provider.getBlockWithTxHashes(block.block_hash), byNumber)
    assert.equal(await provider.getBlockTransactionCount(block.block_number), block.transactions.length)
  }
})

test('starknet.js reads blocks by tag', async () => {
  const numberOf = async (tag: 'latest' | 'l1_accepted') => {
    const block = await provider.getBlockWithTxHashes(tag)
    assert.ok('block_hash' in block)
    return block.block_number
  }
  assert.equal(await numberOf('latest'), 7)
  assert.equal(await numberOf('l1_accepted'), 3)
  const block = await provider.getBlockWithTxHashes('pre_confirmed')
  assert.deepEqual(block, unconfirmed)
  assert.ok(!('block_hash' in block))
})

test('starknet.js gets an error for a missing block', async () => {
  await assert.rejects(provider.getBlockWithTxHashes(8), /24: Block not found/)
  await assert.rejects(provider.getBlockWithTxHashes('0x123'), /24: Block not found/)
})
