import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { readFacts } from '../../tools/fuzz-chain/facts.js'
import { requestsAbout } from '../../tools/fuzz-chain/requests/all.js'
import type { Request } from '../../tools/fuzz-chain/requests/random.js'
import { type CairnServer, runCairnOk, startCairn } from '../support/cairn.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* Random chains through all forks, served by a Cairn that executed them from the genesis, and followed with `--state
 * sparse` from a block after Cancun: every answer about a block since then is the same. */

const SEEDS = THOROUGH ? 10 : 2
const REQUESTS = THOROUGH ? 4_000 : 1_000
const MAX_SHOWN = 5

for (let seed = 1; seed <= SEEDS; seed++) {
  const mode = ['witness', 'proofs', 'auto'][seed % 3]
  test(`sparse state of the random chain of seed ${seed}, by ${mode}, answers as the complete one`, async (t) => {
    const folder = temporaryDirectory(t)
    const chain = await buildRandomChain(seed)
    writeFileSync(join(folder, 'genesis.json'), chain.genesis)
    writeFileSync(join(folder, 'chain.rlp'), chain.chainRlp)
    const complete = await startCairn(t, ['--fixture', folder, ...LIMITS])
    const facts = await readFacts((method, params) => resultOf(complete.url, method, params), chain)
    const cancun = (JSON.parse(chain.genesis) as { config: { cancunTime: number } }).config.cancunTime
    const first = facts.timestamps.findIndex((time) => time >= cancun)
    const sparse = await startSparse(t, { folder, upstream: complete.url, first, mode })
    await untilBlockNumber(sparse, chain.head)
    const earlier = [
      ...facts.blockHashes.slice(0, first),
      ...facts.transactions.filter(({ blockNumber }) => blockNumber < first).map(({ hash }) => hash),
    ]
    const namesEarlier = ({ params }: Request) => earlier.some((hash) => JSON.stringify(params).includes(hash))
    const found: string[] = []
    const counts = { compared: 0, earlier: 0 }
    for (const request of requestsAbout(facts, seededRandom(seed), REQUESTS)) {
      const [own, wanted] = await Promise.all(
        [sparse, complete].map(({ url }) => ask(url, request.method, request.params)),
      )
      if (isOfEarlierBlock(own, first) || namesEarlier(request) || isSuggested(request, own) || isList(request, own))
        counts.earlier++
      else {
        counts.compared++
        if (!isSame(own, wanted)) found.push(describeDifference(request, own, wanted))
      }
    }
    t.diagnostic(`first block ${first} of ${chain.head}; ${JSON.stringify(counts)}`)
    assert.deepEqual(found.slice(0, MAX_SHOWN), [], `${found.length} differences`)
    assert.ok(counts.compared > REQUESTS / 4)
    await sparse.stop()
    assert.match(await runCairnOk(['verify', '--datadir', sparse.datadir]), /^state: roots of \d+ blocks, /m)
  })
}

const LIMITS = ['--compat', 'geth', '--max-call-gas', '10', '--simulation-gas', '10', '--call-timeout', '60000']

async function startSparse(
  t: TestContext,
  { folder, upstream, first, mode }: { folder: string; upstream: string; first: number; mode: string },
): Promise<CairnServer & { datadir: string }> {
  const datadir = temporaryDirectory(t)
  const chain = ['--genesis', join(folder, 'genesis.json'), '--state', 'sparse', '--from', String(first)]
  const server = await startCairn(t, [
    ...['--datadir', datadir, '--open', ...chain, '--state-fetch', mode, '--upstream', upstream, ...LIMITS],
  ])
  return { ...server, datadir }
}

/** True for an answer that a database which begins at `first` cannot give. */
function isOfEarlierBlock({ error }: { error?: unknown }, first: number): boolean {
  const message = (error as { message?: string } | undefined)?.message ?? ''
  const [, number] =
    /^(?:block|historical state) (\d+) is not available/.exec(message) ??
    /before block (\d+) are not available/.exec(message) ??
    []
  return number !== undefined && Number(number) <= first
}

/** True for what is computed from the fees of the 20 newest blocks, some of them earlier ones, and for preimages: those
 *  of what was asked for are known. */
function isSuggested({ method }: Request, own: object): boolean {
  return (
    /eth_(feeHistory|gasPrice|maxPriorityFeePerGas)|debug_preimage/.test(method) ||
    JSON.stringify(own).includes('maxPriorityFeePerGas (0x')
  )
}

/** True for an answer that lists a state that is known in part. */
function isList({ method }: Request, { error }: { error?: unknown }): boolean {
  const isRefused = /^the state cannot be listed/.test((error as { message?: string } | undefined)?.message ?? '')
  return isRefused && /^debug_(dumpBlock|accountRange|storageRangeAt)$/.test(method)
}

function isSame(own: object, wanted: object): boolean {
  return JSON.stringify(own) === JSON.stringify(wanted)
}

/** The request, and both answers from where they begin to differ. */
function describeDifference({ method, params }: Request, ...answers: [object, object]): string {
  const [own, wanted] = answers.map((each) => JSON.stringify(each))
  let same = 0
  while (same < own.length && own[same] === wanted[same]) same++
  const from = Math.max(0, same - 40)
  const shown = [JSON.stringify(params), own.slice(from), wanted.slice(from)].map((text) => text.slice(0, 300))
  return `${method} ${shown.join('\n  ')}`
}
