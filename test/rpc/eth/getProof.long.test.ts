import { test } from 'node:test'
import { importSharedChain, SHARED_CHAINS } from '../../support/chains/sharedChains.js'
import { openCheckedChain } from '../../support/compare/checkProofs.js'
import { SKIP_SHARED } from '../../support/shared.js'
import { THOROUGH } from '../../support/thorough.js'

const skip = SKIP_SHARED
const STEP = THOROUGH ? 1 : 16
const PROOFS = THOROUGH ? 2000 : 40

for (const name of Object.keys(SHARED_CHAINS)) {
  test(`${PROOFS} proofs of ${name} verify, and blocks are executed from their witnesses`, { skip }, async (t) => {
    const chain = await openCheckedChain(t, await importSharedChain(t, name))
    await chain.checkProofs(11, PROOFS)
    for (let number = chain.head; number > 0; number -= STEP) await chain.executeFromWitness(number)
    t.diagnostic(`${chain.head} blocks`)
  })
}
