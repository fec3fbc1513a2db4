import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildFixture } from '../../scripts/make-fixture-chain.js'
import { packagePath } from '../../src/store/open.js'

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
