import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { formatData } from '../../src/lib/hex.js'
import { requestsAbout } from '../../tools/fuzz-chain/requests/all.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { compareSeed, SOME, SPARSE_LIMITS, serveRandomChain } from '../support/compare/sparseAnswers.js'
import { seededRandom } from '../support/random.js'
import { ask } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'
import { startChangingProxy } from '../support/upstream/changingProxy.js'

const KILLS = THOROUGH ? 30 : 3
const REQUESTS = THOROUGH ? 2_000 : 300
const MAX_SHOWN = 3

/* A server with sparse state is killed at random moments: while it follows a chain that grows, and while clients make
 * it fetch state. */
test('SIGKILL while following and while requests fetch state leaves a sound database', async (t) => {
  const random = seededRandom(31)
  const chain = await serveRandomChain(t, 1)
  const proxy = await startChangingProxy(t, chain.complete.url)
  let head = chain.first
  // Each response takes some milliseconds, so that kills meet fetches.
  proxy.fault = { call: (call) => hideAbove(call, head), delayMs: () => 4 }
  const datadir = temporaryDirectory(t)
  const args = [
    ...['--datadir', datadir, '--open', '--genesis', chain.genesis, '--state', 'sparse', '--from', String(chain.first)],
    ...['--upstream', proxy.url, '--state-fetch', 'proofs', ...SPARSE_LIMITS],
  ]
  const requests = [...requestsAbout(chain.facts, random, 200 * KILLS)]
  let fetched = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const server = spawnCairn(['serve', '--port', '0', '--log-level', 'error', ...args], FEW_THREADS)
    const [, url] = await server.waitFor('stdout', /^ready (\S+)\n/)
    const before = proxy.calls.length
    const asking = requests.splice(0, 200).map(async ({ method, params }, i) => {
      await delay(i * 4)
      const unknown = { method: 'eth_getBalance', params: [formatData(random.bytes(20)), 'latest'] }
      const each = i % 2 === 0 ? unknown : { method, params }
      await ask(url, each.method, each.params).catch(() => {}) // it is killed meanwhile
    })
    const growing = (async () => {
      for (let i = random.below(6); i > 0 && head < chain.head; i--) {
        head++
        await delay(random.below(120))
      }
    })()
    await delay(random.below(1_200))
    server.child.kill('SIGKILL')
    await server.ended
    await Promise.all([growing, ...asking])
    fetched += proxy.calls.slice(before).filter(({ method }) => method === 'eth_getProof').length
    const { code, stderr } = await runCairn(['verify', '--datadir', datadir])
    assert.equal(code, 0, `after kill ${kill}: ${stderr}`)
  }
  assert.ok(fetched > 0, 'state was fetched meanwhile')
  head = chain.head
  const server = await startCairn(t, args)
  await untilBlockNumber(server, chain.head)
  const { compared, differences } = await compareSeed(server, chain, 7, REQUESTS, SOME)
  t.diagnostic(`${fetched} proofs while it was killed, ${compared} answers compared`)
  assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
  await server.stop()
  assert.match(await runCairnOk(['verify', '--datadir', datadir]), /^state: roots of \d+ blocks, /m)
})

const FEW_THREADS = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' }

/** The call with an earlier head in place of the newest block. */
function hideAbove<T extends { method: string; params: unknown[] }>(call: T, head: number): T {
  const [first, ...rest] = call.params
  return first === 'latest' ? { ...call, params: [`0x${head.toString(16)}`, ...rest] } : call
}
