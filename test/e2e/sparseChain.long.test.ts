import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CairnServer, runCairnOk, startCairn } from '../support/cairn.js'
import { compareSeed, type ServedChain, SPARSE_LIMITS, serveRandomChain } from '../support/compare/sparseAnswers.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* Random chains through all forks, served by a Cairn that executed them from the genesis, and followed with `--state
 * sparse` from a block after Cancun: every answer about a block since then is the same. */

const SEEDS = THOROUGH ? 10 : 1
const REQUESTS = THOROUGH ? 4_000 : 500
// Of the requests each how many-th is sent.
const STEP = THOROUGH ? 1 : 5
const MAX_SHOWN = 5

for (let seed = 1; seed <= SEEDS; seed++) {
  const mode = ['witness', 'proofs', 'auto'][seed % 3]
  test(`sparse state of the random chain of seed ${seed}, by ${mode}, answers as the complete one`, async (t) => {
    const chain = await serveRandomChain(t, seed)
    const sparse = await startSparse(t, chain, mode)
    await untilBlockNumber(sparse, chain.head)
    const { compared, skipped, differences } = await compareSeed(sparse, chain, seed, REQUESTS, STEP)
    t.diagnostic(`first block ${chain.first} of ${chain.head}; compared ${compared}, skipped ${skipped}`)
    assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
    assert.ok(compared > REQUESTS / STEP / 4)
    await sparse.stop()
    assert.match(await runCairnOk(['verify', '--datadir', sparse.datadir]), /^state: roots of \d+ blocks, /m)
  })
}

async function startSparse(
  t: TestContext,
  { complete, genesis, first }: ServedChain,
  mode: string,
): Promise<CairnServer & { datadir: string }> {
  const datadir = temporaryDirectory(t)
  const chain = ['--genesis', genesis, '--state', 'sparse', '--from', String(first)]
  const server = await startCairn(t, [
    ...['--datadir', datadir, '--open', ...chain, '--state-fetch', mode, '--upstream', complete.url],
    ...SPARSE_LIMITS,
  ])
  return { ...server, datadir }
}
