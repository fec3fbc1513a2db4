import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { compareAnswers } from '../../tools/fuzz-chain/compare.js'
import { readFacts } from '../../tools/fuzz-chain/facts.js'
import { requestsAbout } from '../../tools/fuzz-chain/requests/all.js'
import type { Request } from '../../tools/fuzz-chain/requests/random.js'
import { runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { OP_DIFFERENCES } from '../support/chains/op/opDifferences.js'
import { type OpDriver, startOpDriver } from '../support/chains/op/opDriver.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilValue } from '../support/until.js'
import { SKIP_OP_GETH } from '../support/upstream/geth.js'

/* Cairn follows a chain of op-geth that grows as op-node extends one: deposits, fees of layer 1 and of the operator,
 * Isthmus from block 0, then Jovian. Blocks, receipts, traces, calls and estimates are those of op-geth. */

const SEED = Number(process.env.SEED ?? 34)
const REQUESTS = THOROUGH ? 4_000 : 300
// Of the requests each how many-th is sent.
const STEP = THOROUGH ? 1 : 3
const FEW_THREADS = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' }
const MAX_SHOWN = 5
const CALL_MGAS = 10

test('a chain of op-geth is followed, with a reorg and after kill -9, and answers are its own', {
  skip: SKIP_OP_GETH,
}, async (t) => {
  const limits = [`--rpc.gascap=${CALL_MGAS}000000`, '--rpc.evmtimeout=60s']
  const driver = await startOpDriver(t, { random: seededRandom(SEED), args: limits })
  const datadir = temporaryDirectory(t)
  const args = [
    ...['--datadir', datadir, '--open', '--genesis', driver.genesisFile, '--upstream', driver.url],
    ...['--compat', 'geth', '--max-call-gas', `${CALL_MGAS}`, '--simulation-gas', `${CALL_MGAS}`],
    ...['--call-timeout', '60000', '--root-interval', '1'],
  ]
  await driver.extend(4)
  const killed = spawnCairn(['serve', '--port', '0', ...args], FEW_THREADS)
  t.after(() => void killed.child.kill('SIGKILL'))
  const [, url] = await killed.waitFor('stdout', /^ready (\S+)\n/)
  await follows(url, driver)
  for (let i = 0; i < 8; i++) {
    await driver.extend(1)
    await follows(url, driver)
  }
  await driver.rewind(3)
  await driver.extend(4)
  await follows(url, driver)
  await driver.extend(1)
  killed.child.kill('SIGKILL')
  await killed.ended
  await driver.rewind(2)
  await driver.extend(3)
  const cairn = await startCairn(t, args)
  await follows(cairn.url, driver)

  const facts = await readFacts((method, params) => resultOf(cairn.url, method, params), driver)
  assert.ok(facts.transactions.length > 30, `${facts.transactions.length} transactions`)
  const found: string[] = []
  const requests = [...requestsAbout(facts, seededRandom(SEED), REQUESTS)].filter(
    (each, i) => i % STEP === 0 && isSurvived(each),
  )
  for await (const { request, differences } of compareAnswers(
    { cairn: cairn.url, geth: driver.url },
    requests,
    OP_DIFFERENCES,
  )) {
    found.push(`${request.method} ${JSON.stringify(request.params).slice(0, 2_000)}\n  ${differences.join('\n  ')}`)
  }
  t.diagnostic(`${facts.head} blocks, ${facts.transactions.length} transactions, ${requests.length} requests`)
  assert.deepEqual(found.slice(0, MAX_SHOWN), [], `${found.length} differences`)
  await cairn.stop()
  await runCairnOk(['verify', '--datadir', datadir])
})

/** False for what ends op-geth 1.101702.3: tracers within the muxTracer, of deposits that fail before they run. */
function isSurvived({ params }: Request): boolean {
  return !JSON.stringify(params).includes('muxTracer')
}

/** Waits until Cairn has the head of op-geth. */
async function follows(url: string, driver: OpDriver): Promise<void> {
  const params = [formatQuantity(driver.head), false]
  const { hash } = await resultOf<{ hash: string }>(driver.url, 'eth_getBlockByNumber', params)
  await untilValue(
    async () => (await resultOf<{ hash: string } | null>(url, 'eth_getBlockByNumber', ['latest', false]))?.hash,
    (own) => own === hash,
  )
}
