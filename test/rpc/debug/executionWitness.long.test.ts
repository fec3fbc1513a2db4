import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBlockchainTests } from '../../support/chains/blockchainTest.js'
import { importValidBlocks } from '../../support/chains/importBlockchainTest.js'
import { openCheckedChain } from '../../support/compare/checkProofs.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { THOROUGH } from '../../support/thorough.js'

/* Blocks of the other chains: test/rpc/eth/getProof.long.test.ts. */

const skip = SKIP_SHARED
const EVERY = THOROUGH ? 1 : 16

for (const folder of ['blockchain-tests', 'amsterdam-tests']) {
  test(`each valid block of ${folder}, or of each 16th test, is executed from its witness`, { skip }, async (t) => {
    let blocks = 0
    let index = 0
    for (const { name, test: blockchainTest } of readBlockchainTests(sharedPath(folder)!)) {
      if (index++ % EVERY !== 0) continue
      await t.test(name, async (child) => {
        const chain = await openCheckedChain(child, await importValidBlocks(child, blockchainTest))
        for (let number = chain.head; number > 0; number--) await chain.executeFromWitness(number)
        blocks += chain.head
      })
    }
    t.diagnostic(`${blocks} blocks`)
    assert.ok(blocks > (THOROUGH ? 300 : 20))
  })
}
