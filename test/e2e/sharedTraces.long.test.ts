import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLogger } from '../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { readBlockchainTests } from '../support/chains/blockchainTest.js'
import { importValidBlocks } from '../support/chains/importBlockchainTest.js'
import { importSharedChain, SHARED_CHAINS } from '../support/chains/sharedChains.js'
import { checkTraces } from '../support/compare/traces.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { THOROUGH } from '../support/thorough.js'

/* Traces of every transaction of every chain of the shared folder. */

const skip = SKIP_SHARED
const EVERY = THOROUGH ? 1 : 16
const LEAST_TRANSACTIONS = THOROUGH ? 100 : 10

for (const folder of ['blockchain-tests', 'amsterdam-tests']) {
  test(`traces of ${folder}, or of each sixteenth test, agree with receipts and states`, { skip }, async (t) => {
    let transactions = 0
    let index = 0
    for (const { name, test: blockchainTest } of readBlockchainTests(sharedPath(folder)!)) {
      if (++index % EVERY !== 0) continue
      await t.test(name, async (child) => {
        transactions += await checkChain(child, await importValidBlocks(child, blockchainTest))
      })
    }
    t.diagnostic(`${transactions} transactions`)
    assert.ok(transactions >= LEAST_TRANSACTIONS)
  })
}

for (const name of Object.keys(SHARED_CHAINS)) {
  test(`traces of ${name} agree with receipts and states`, { skip }, async (t) => {
    t.diagnostic(`${await checkChain(t, await importSharedChain(t, name))} transactions`)
  })
}

/** The number of transactions. */
async function checkChain(t: TestContext, datadir: string): Promise<number> {
  const opened = openContext({ datadir, limits: { ...DEFAULT_LIMITS, callMemoryBytes: 2 ** 31 }, log: silentLogger })
  t.after(() => opened.close())
  const { chain } = opened.context
  let transactions = 0
  for (let number = 1; number <= chain.head()!; number++) {
    if (chain.blockByNumber(number)!.txCount > 0) transactions += await checkTraces(opened.context, number)
  }
  return transactions
}
