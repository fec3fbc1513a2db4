import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBlockchainTests } from '../support/chains/blockchainTest.js'
import { importBlockchainTest } from '../support/chains/importBlockchainTest.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { THOROUGH } from '../support/thorough.js'

const EVERY = THOROUGH ? 1 : 3
const EVERY_REFERENCE = THOROUGH ? 1 : 40

test('imports Amsterdam tests, refuses the invalid blocks for their reasons and continues', {
  skip: SKIP_SHARED,
}, async (t) => {
  let invalid = 0
  let index = 0
  for (const { name, test: blockchainTest } of readBlockchainTests(sharedPath('amsterdam-tests')!)) {
    const isInvalid = blockchainTest.blocks.some((block) => block.expectException !== undefined)
    if (isInvalid) invalid++
    if (isInvalid || index++ % EVERY === 0) await t.test(name, (child) => importBlockchainTest(child, blockchainTest))
  }
  assert.equal(invalid, 16)
})

test('the reference interpreter executes Amsterdam tests to the same headers', { skip: SKIP_SHARED }, async (t) => {
  let index = 0
  for (const { name, test: blockchainTest } of readBlockchainTests(sharedPath('amsterdam-tests')!)) {
    const isInvalid = blockchainTest.blocks.some((block) => block.expectException !== undefined)
    if (isInvalid || index++ % EVERY_REFERENCE !== 0) continue
    await t.test(name, (child) => importBlockchainTest(child, blockchainTest, 'reference'))
  }
})
