import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Check, fail, ok, runCheck } from '../../../src/cli/doctor/check.js'
import { checkDatadir, type StoredChain } from '../../../src/cli/doctor/datadir.js'
import { findStateWindow } from '../../../src/cli/doctor/stateWindow.js'
import { checkUpstream, compareClock, describeWindow } from '../../../src/cli/doctor/upstream.js'
import { FIXTURE_FOLDER } from '../../support/chains/fixture.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { SKIP_GETH, serveWithGeth, startGethPeer } from '../../support/upstream/geth.js'
import {
  type ChainAnswers,
  type Fault,
  openChainAnswers,
  RpcFailure,
  startScriptedUpstream,
} from '../../support/upstream/scriptedUpstream.js'

let answers: ChainAnswers
let chain: StoredChain
/** Numbers of the blocks by their hashes. */
const numbers = new Map<string, number>()

before(async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  answers = openChainAnswers(datadir)
  chain = (await checkDatadir(datadir)).chain!
  for (let number = 0; number <= answers.head; number++) {
    const block = await answers.result('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    numbers.set((block as { hash: string }).hash, number)
  }
})
after(() => answers.close())

/** Checks a node with the fault, and returns result and text of each check by name. */
async function check(fault: Fault | undefined, expected: StoredChain | undefined = chain) {
  const upstream = await startScriptedUpstream(answers, fault)
  try {
    const checks = await checkUpstream({ url: upstream.url }, { chain: expected })
    return Object.fromEntries(checks.map((each) => [each.check, each])) as { [check: string]: Check }
  } finally {
    await upstream.close()
  }
}

const names = (checks: { [check: string]: Check }, result: Check['result']) =>
  Object.values(checks)
    .filter((each) => each.result === result)
    .map((each) => each.check)

test('a node that has everything', async () => {
  const checks = await check(undefined)
  assert.deepEqual(names(checks, 'fail'), [])
  assert.deepEqual(names(checks, 'warn'), ['newest block']) // the blocks of the fixture are old
  assert.equal(checks['state window'].found, 'all 74 blocks below the newest')
  assert.equal(checks.batches.found, '1,000 calls at a time')
})

test('geth, of the chain of the database and of another one', { skip: SKIP_GETH }, async (t) => {
  const [genesis, file] = ['genesis.json', 'chain.rlp'].map((name) => join(FIXTURE_FOLDER, name))
  const url = await serveWithGeth(t, { datadir: temporaryDirectory(t), genesis, chain: file })
  const checks = await checkUpstream({ url }, { chain })
  const rows = Object.fromEntries(checks.map((each) => [each.check, each]))
  assert.deepEqual(names(rows, 'fail'), [])
  assert.deepEqual(names(rows, 'warn'), ['newest block', 'WebSocket'])
  assert.equal(rows['state window'].found, 'all 74 blocks below the newest')
  assert.match(rows.batches.found, /^1,000 calls at a time$/)
  assert.equal(rows.traces.found, 'debug_traceBlockByNumber')

  const other = await startGethPeer(t)
  assert.deepEqual(
    (await checkUpstream({ url: other.url }, { chain })).map(({ check: name, result }) => [name, result]),
    [
      ['reachable', 'ok'],
      ['chain', 'fail'],
    ],
  )
  const own = await checkUpstream({ url: other.url }, { chain: undefined })
  assert.match(own[0].found, /^Geth\/v1\./)
  const overSocket = await checkUpstream({ url: other.wsUrl }, { chain: undefined })
  assert.equal(overSocket.find((each) => each.check === 'WebSocket')?.result, 'ok')
  assert.deepEqual(
    overSocket.filter(({ result }) => result === 'fail'),
    [],
  )
})

test('a node of another chain is not asked further', async () => {
  const checks = await check(undefined, { ...chain, chainId: 1n })
  assert.deepEqual(Object.keys(checks), ['reachable', 'chain'])
  assert.match(checks.chain.found, /^chain id: expected 1 of this database, the upstream has 20261$/)
  const genesis = await check(undefined, { ...chain, genesisHash: new Uint8Array(32) })
  assert.match(genesis.chain.found, /^genesis hash: expected 0x00/)
})

test('without a database the chain is only named', async () => {
  const upstream = await startScriptedUpstream(answers)
  const checks = await checkUpstream({ url: upstream.url }, { chain: undefined })
  await upstream.close()
  assert.equal(checks[1].found, 'chain id 20261; no database to compare it with')
})

test('a node that has only what every node has', async () => {
  const lacks = ['eth_getProof', 'debug_executionWitness', 'debug_traceBlockByNumber', 'eth_getBlockReceipts']
  const raw = ['debug_getRawBlock', 'debug_getRawReceipts', 'web3_clientVersion', 'eth_subscribe']
  const checks = await check({ name: 'plain', lacks: [...lacks, ...raw, 'debug_executionWitnessByBlockHash'] })
  assert.deepEqual(names(checks, 'fail'), [])
  assert.deepEqual(names(checks, 'warn'), ['newest block', 'block receipts', 'proofs', 'witnesses', 'WebSocket'])
  assert.equal(checks['state window'], undefined)
  assert.match(checks.proofs.found, /no eth_getProof/)
  assert.match(checks.traces.found, /^no debug_traceBlockByNumber; Cairn makes traces itself$/)
  assert.match(checks.reachable.found, /it does not name its client/)
})

test('states end at a depth', async () => {
  const oldest = 74 - 17
  const checks = await check({
    name: 'pruned',
    result: ({ method, params }, result) => {
      if (method !== 'eth_getProof') return result
      const { blockHash } = params[2] as { blockHash: string }
      if (numbers.get(blockHash)! < oldest) throw new RpcFailure(-32000, 'missing trie node')
      return result
    },
  })
  assert.match(checks['state window'].found, /^17 blocks below the newest$/)
  assert.equal(checks['state window'].result, 'warn')
})

test('a proof of another state is found', async () => {
  const checks = await check({
    name: 'balance',
    result: ({ method }, result) =>
      method === 'eth_getProof' ? { ...(result as object), balance: '0x123456789' } : result,
  })
  assert.equal(checks.proofs.result, 'warn')
  assert.match(checks.proofs.found, /proof: account/)
})

test('batches are refused above a size, or at all', async () => {
  const refuse = (most: number): Fault => ({
    name: 'batches',
    answers: (right, calls) =>
      calls.length > most ? { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } } : right,
  })
  assert.match((await check(refuse(100))).batches.found, /^100 calls at a time; more: a batch of 1000 calls was/)
  const { result, found } = (await check(refuse(1))).batches
  assert.deepEqual([result, found.startsWith('none of 10 calls; more: ')], ['warn', true])
})

test('a block with a wrong hash is a failure', async () => {
  const checks = await check({
    name: 'gas',
    result: ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { ...(result as object), gasUsed: '0x1' } : result,
  })
  assert.deepEqual(names(checks, 'fail'), ['newest block'])
  assert.match(checks['newest block'].found, /hash/)
})

test('the state window is that of a search block by block', async () => {
  const random = seededRandom(33)
  for (let i = 0; i < 500; i++) {
    const most = random.below(i < 100 ? 4 : 10_001)
    const deepest = random.below(2 * most + 1)
    let asked = 0
    const window = await findStateWindow(most, async (depth) => {
      assert.ok(depth > 0 && depth <= most)
      asked++
      return depth <= deepest
    })
    let slow = 0
    while (slow < most && slow + 1 <= deepest) slow++
    assert.equal(window.depth, slow)
    assert.equal(window.missing, slow === most ? undefined : slow + 1)
    assert.ok(asked <= 2 + Math.log2(most + 1))
  }
})

test('a search that fails reports what it has found', async () => {
  let asked = 0
  const problem = new Error('throttled')
  const window = await findStateWindow(10_000, async (depth) => {
    if (++asked > 3) throw problem
    return depth <= 5_000
  })
  assert.deepEqual(window, { depth: 5_000, missing: 7_500, problem })
  const { result, found } = describeWindow(10_000, window)
  assert.deepEqual([result, found], ['warn', 'at least 5,000 blocks below the newest and not 7,500; then: throttled'])
})

test('a clock behind the newest block is a warning', () => {
  assert.equal(compareClock(1_000, 2_000).result, 'ok')
  assert.equal(compareClock(1_015, 1_000).result, 'ok')
  assert.deepEqual(
    [compareClock(1_016, 1_000).result, compareClock(1_016, 1_000).found],
    ['warn', '16 s behind the newest block'],
  )
})

test('a check that hangs ends with its time, and one that throws is a row', async () => {
  const names = { area: 'a', check: 'b' }
  const hung = await runCheck({ ...names, timeoutMs: 20 }, (signal) => {
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  assert.deepEqual([hung.result, hung.found], ['fail', 'no answer within 0.02 s'])
  const over = await runCheck({ ...names, signal: AbortSignal.abort() }, (signal) => {
    signal.throwIfAborted()
    return ok('')
  })
  assert.equal(over.found, 'not checked: the time for all checks was over')
  const thrown = await runCheck(names, () => {
    throw new Error('two\n  lines')
  })
  assert.deepEqual(thrown, { ...names, ...fail('two lines', 'see docs/troubleshooting.md') })
})
