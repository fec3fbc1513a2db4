import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareSeed } from '../../tools/fuzz-chain/compareSeed.js'
import { THOROUGH } from '../support/thorough.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

/* Random chains through all forks, imported into Cairn and geth: blocks, receipts, proofs, traces with all options,
 * struct logs step by step, calls, estimates and simulations. tools/fuzz-chain/differences.ts names the intended
 * differences. */

const SEED = Number(process.env.SEED ?? 1)
const CHAINS = THOROUGH ? 10 : 1
const REQUESTS = THOROUGH ? 4_000 : 300
const MAX_SHOWN = 5

for (let seed = SEED; seed < SEED + CHAINS; seed++) {
  test(`geth answers alike about the random chain of seed ${seed}`, { skip: SKIP_GETH }, async (t) => {
    const found: string[] = []
    const { blocks, transactions, asked } = await compareSeed(
      seed,
      { requests: REQUESTS },
      ({ request, differences }) => {
        found.push(`${request.method} ${JSON.stringify(request.params).slice(0, 2_000)}\n  ${differences.join('\n  ')}`)
      },
    )
    t.diagnostic(`${blocks} blocks, ${transactions} transactions, ${asked} requests`)
    assert.ok(transactions > 80 && asked > REQUESTS)
    assert.deepEqual(found.slice(0, MAX_SHOWN), [], `${found.length} differences`)
  })
}
