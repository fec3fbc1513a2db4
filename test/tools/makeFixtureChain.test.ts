import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readL2Recording } from '../../src/chain/starknet/recording/recording.js'
import { createL2BlockVerifier } from '../../src/chain/starknet/verifier.js'
import { packagePath } from '../../src/store/open.js'
import { buildFixture } from '../../tools/make-fixture-chain.js'

test('the bundled fixture is what the script builds, to the byte', async () => {
  const folder = packagePath('fixtures/chain')
  const { genesis, chainRlp, l2 } = await buildFixture()
  assert.equal(readFileSync(join(folder, 'genesis.json'), 'utf8'), genesis)
  assert.ok(Buffer.from(chainRlp).equals(readFileSync(join(folder, 'chain.rlp'))))
  assert.equal(readFileSync(join(folder, 'l2.ndjson'), 'utf8'), l2)
})

test('the bundled fixture is below 3 MB', () => {
  const folder = packagePath('fixtures/chain')
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  assert.ok(size < 3_000_000, `${size} bytes`)
})

test('the newest layer-2 block is whole, and its hash follows from its parts', () => {
  const lines = readFileSync(join(packagePath('fixtures/chain'), 'l2.ndjson'), 'utf8')
    .trim()
    .split('\n')
  const block = readL2Recording(JSON.parse(lines.at(-2)!))
  assert.equal(block.status, 'ACCEPTED_ON_L2')
  assert.deepEqual(
    [block.transactions?.length, block.receipts?.map(({ events }) => events?.length), block.stateDiff?.nonces.length],
    [1, [2], 1],
  )
  const verify = createL2BlockVerifier()
  assert.equal(verify(block, undefined).kind, 'match')
  const [receipt] = block.receipts!
  const changed = { ...block, receipts: [{ ...receipt, actualFee: receipt.actualFee! + 1n }] }
  assert.equal(verify(changed, undefined).kind, 'mismatch')
})
