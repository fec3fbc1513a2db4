import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AmsterdamTest, createAmsterdamRunner } from '../../support/chains/amsterdamTest.js'
import { readBlockchainTests } from '../../support/chains/blockchainTest.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'

const folder = sharedPath('amsterdam-tests')

for (const withWasm of [true, false]) {
  const way = withWasm ? 'with WebAssembly' : 'without WebAssembly'
  test(`every Amsterdam test gives its receipts, gas, access list, requests and state, ${way}`, {
    skip: SKIP_SHARED,
  }, async () => {
    const run = await createAmsterdamRunner(withWasm)
    let count = 0
    const failures: string[] = []
    for (const { name, test: amsterdamTest } of readBlockchainTests(folder!)) {
      count++
      for (const difference of run(amsterdamTest as AmsterdamTest)) failures.push(`${name}: ${difference}`)
    }
    assert.deepEqual(failures, [])
    assert.equal(count, 427)
  })
}
