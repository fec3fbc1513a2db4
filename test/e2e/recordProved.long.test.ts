import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import type { FixtureManifest } from '../../src/sync/import/recordedFixture.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import {
  compareWithComplete,
  type ServedChain,
  SOME,
  SPARSE_LIMITS,
  serveRandomChain,
} from '../support/compare/sparseAnswers.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { type ChangingProxy, type ProxyFault, startChangingProxy } from '../support/upstream/changingProxy.js'
import { compareFrom, startTraffic } from '../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'
import { STATE_LIES } from '../support/upstream/stateLies.js'

/* `cairn record` of a part of a chain whose node does not list its accounts: what the blocks need is fetched by
 * witnesses or proofs, and the fixture is verified. */

const SEEDS = THOROUGH ? 12 : 1
const REQUESTS = THOROUGH ? 1_000 : 80
const COMPARED_BLOCKS = THOROUGH ? 1_000 : 5
const MAX_SHOWN = 3
// Blocks before these have state roots in their receipts.
const BYZANTIUM = 8

/** A proxy of a node that does not list its accounts. */
async function startNode(t: TestContext, url: string, fault: ProxyFault = {}): Promise<ChangingProxy> {
  const proxy = await startChangingProxy(t, url)
  proxy.fault = {
    ...fault,
    error: (call) =>
      fault.error?.(call) ??
      (call.method === 'debug_accountRange' ? { code: -32601, message: 'the method does not exist' } : undefined),
  }
  return proxy
}

interface RecordOptions {
  readonly url: string
  readonly blocks: string
  readonly mode: string
  readonly args?: readonly string[]
}

function record(out: string, { url, blocks, mode, args = [] }: RecordOptions) {
  const own = ['--upstream', url, '--blocks', blocks, '--state-fetch', mode, '--out', out, '--log-level', 'error']
  return runCairn(['record', ...own, ...args])
}

/** Records a fixture that must be verified, and imports it. */
async function recordAndImport(t: TestContext, options: RecordOptions): Promise<{ folder: string; datadir: string }> {
  const folder = join(temporaryDirectory(t), 'fixture')
  const { code, stderr } = await record(folder, options)
  assert.equal(code, 0, stderr)
  const { format, verified, unchecked, state } = readManifest(folder)
  assert.deepEqual([format, verified, unchecked, state], [2, true, [], 'proved'])
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, '--log-level', 'error', folder])
  await runCairnOk(['verify', '--datadir', datadir])
  assert.doesNotMatch(await runCairnOk(['status', '--datadir', datadir]), /^verified/m)
  return { folder, datadir }
}

function readManifest(folder: string): FixtureManifest {
  return JSON.parse(readFileSync(join(folder, 'fixture.json'), 'utf8')) as FixtureManifest
}

/** Compares random answers of a server without a network with those of the complete one. What the recorded blocks do
 *  not need is refused and never wrong. */
async function requireEqual(server: { url: string }, chain: ServedChain, seed: number): Promise<string> {
  const wanted = { random: seededRandom(seed), count: REQUESTS, step: SOME }
  const { compared, differences } = await compareWithComplete(server, chain, wanted)
  const isUnknown = (difference: string) => /is not known/.test(difference.split('\n')[1])
  const wrong = differences.filter((each) => !isUnknown(each))
  assert.deepEqual(wrong.slice(0, MAX_SHOWN), [], `${wrong.length} of ${compared} answers differ`)
  const equal = compared - differences.length
  assert.ok(equal > REQUESTS / 6, `${equal} equal answers`)
  return `${equal} equal answers, ${differences.length} unknown`
}

// The node of the tests of the first seed, of invalid state and of changed fixtures, which only read from it.
const shared = await serveRandomChain({ after }, 1)

for (let seed = 1; seed <= SEEDS; seed++) {
  const mode = ['witness', 'proofs', 'auto'][seed % 3]
  test(`a part of the random chain of seed ${seed}, by ${mode}: the fixture answers as the complete chain`, async (t) => {
    const chain = seed === 1 ? shared : await serveRandomChain(t, seed)
    const node = await startNode(t, chain.complete.url)
    const random = seededRandom(seed)
    // One that begins after Cancun, and one of any block.
    const firsts = [BYZANTIUM + random.below(chain.head - BYZANTIUM - 1), chain.first]
    for (const first of THOROUGH ? firsts : firsts.slice(0, 1)) {
      const blocks = `${first + 1}:${chain.head}`
      const args = ['--genesis', chain.genesis]
      const { datadir } = await recordAndImport(t, { url: node.url, blocks, mode, args })
      const server = await startCairn(t, ['--datadir', datadir, '--open', ...SPARSE_LIMITS])
      t.diagnostic(`from ${first}: ${await requireEqual(server, { ...chain, first }, seed)}`)
      await requireTraces(server.url, chain, first)
      await server.stop()
      await requireFollowing(t, datadir, { ...chain, first })
    }
  })
}

/** Requires that the database fetches what is unknown once it has an upstream. */
async function requireFollowing(
  t: TestContext,
  datadir: string,
  { complete, head, first }: ServedChain,
): Promise<void> {
  const server = await startCairn(t, ['--datadir', datadir, '--open', '--upstream', complete.url])
  for (const [i, number] of [first, head].entries()) {
    const params = [`0x${String(i).padStart(40, 'e')}`, formatQuantity(number)]
    assert.deepEqual(await ask(server.url, 'eth_getBalance', params), { jsonrpc: '2.0', id: 1, result: '0x0' })
  }
  await server.stop()
}

/** Requires equal blocks, receipts and traces. */
async function requireTraces(url: string, { complete, head }: ServedChain, first: number): Promise<void> {
  for (let number = Math.max(first + 1, head - COMPARED_BLOCKS); number <= head; number++) {
    const at = formatQuantity(number)
    const asks: [string, unknown[]][] = [
      ['eth_getBlockByNumber', [at, true]],
      ['eth_getBlockReceipts', [at]],
      ['debug_traceBlockByNumber', [at, { tracer: 'callTracer' }]],
      ['debug_traceBlockByNumber', [at, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }]],
    ]
    for (const [method, params] of asks) {
      const [own, wanted] = await Promise.all([url, complete.url].map((each) => ask(each, method, params)))
      assert.deepEqual(own, wanted, `${method} of block ${number}`)
    }
  }
}

for (const mode of THOROUGH ? ['witness', 'proofs'] : ['proofs']) {
  test(`geth, by ${mode}: a part of its chain is recorded verified, and every answer is the node's`, {
    skip: SKIP_GETH,
  }, async (t) => {
    const peer = await startGethPeer(t)
    const traffic = await startTraffic(peer)
    await traffic.mine(THOROUGH ? 40 : 16)
    const node = await startNode(t, peer.url)
    const first = THOROUGH ? 15 : 9
    const { datadir } = await recordAndImport(t, { url: node.url, blocks: `${first}:`, mode })
    const server = await startCairn(t, ['--datadir', datadir, '--open'])
    // Contracts that no recorded block calls.
    const faults = /^eth_call expected .*, got error \{"code":-32000,"message":"state of 0x/
    await compareFrom(first, { server, peer: { url: peer.url, faults }, datadir, traffic })
    for (const [i, to] of traffic.loggers.entries()) {
      const params = [{ to }, formatQuantity(first + i)]
      assert.deepEqual(await ask(server.url, 'eth_call', params), await ask(peer.url, 'eth_call', params))
    }
    const bloated = [traffic.loggers[0], [`0x${'0'.repeat(64)}`], 'latest']
    assert.deepEqual(await ask(server.url, 'eth_getProof', bloated), await ask(peer.url, 'eth_getProof', bloated))
  })
}

test('a full geth: its newest blocks are recorded; for older ones the error says what would work', {
  skip: SKIP_GETH,
}, async (t) => {
  const peer = await startGethPeer(t, ['--gcmode=full', '--state.scheme=path', '--history.state=1'])
  const traffic = await startTraffic(peer)
  await traffic.mine(150)
  const head = Number(await resultOf<string>(peer.url, 'eth_blockNumber'))
  const node = await startNode(t, peer.url)
  const { datadir } = await recordAndImport(t, {
    url: node.url,
    blocks: `${head - (THOROUGH ? 100 : 30)}:`,
    mode: 'auto',
  })
  await runCairnOk(['verify', '--datadir', datadir, '--state-history'])
  // A development node may keep states that it does not prove: of a chain that is named, nothing unproved is recorded.
  const genesis = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesis, JSON.stringify(await developmentGenesis(t, node.url)))
  const options = { url: node.url, blocks: '10:12', mode: 'proofs', args: ['--genesis', genesis] }
  await requireRefused(t, options, /the state of block 9 is not available: .*128 blocks.*archive node/)
  const withoutProofs = await startNode(t, peer.url, {
    error: ({ method }) => (/getProof|Witness/.test(method) ? { code: -32601, message: 'no such method' } : undefined),
  })
  await requireRefused(
    t,
    { ...options, url: withoutProofs.url, blocks: `${head - 3}:` },
    /is not available: no eth_getProof \(reth needs --rpc.eth-proof-window\)/,
  )
})

/** A genesis file with the rules of a development node, which are not those of a development chain. */
async function developmentGenesis(t: TestContext, url: string): Promise<object> {
  const folder = join(temporaryDirectory(t), 'first')
  const { code, stderr } = await record(folder, { url, blocks: '140:141', mode: 'proofs' })
  assert.equal(code, 0, stderr)
  const genesis = JSON.parse(readFileSync(join(folder, 'genesis.json'), 'utf8')) as { config: object }
  return { ...genesis, config: { ...genesis.config, development: false } }
}

async function requireRefused(t: TestContext, options: RecordOptions, pattern: RegExp): Promise<void> {
  const folder = temporaryDirectory(t)
  const { code, stderr } = await record(join(folder, 'fixture'), options)
  assert.match(stderr, pattern)
  assert.notEqual(code, 0)
  assert.deepEqual(readdirSync(folder), [])
}

test('a node that sends invalid state: the check is named, and nothing is written', async (t) => {
  const tried = new Set<string>()
  for (const lie of STATE_LIES) {
    if (!lie.isOfBlocks || (!THOROUGH && tried.has(String(lie.check)))) continue
    tried.add(String(lie.check))
    const node = await startNode(t, shared.complete.url, lie)
    const blocks = `${shared.first + 1}:`
    const options = { url: node.url, blocks, mode: lie.mode, args: ['--genesis', shared.genesis] }
    if (!lie.check) {
      const folder = join(temporaryDirectory(t), 'fixture')
      const { code, stderr } = await record(folder, options)
      assert.equal(code, 0, stderr)
      assert.ok(readManifest(folder).verified)
      assert.ok(node.changed > 0, lie.name)
      continue
    }
    const named = new RegExp(`block \\d+: ${lie.check.source.replace(/[\^$]/g, '')}: `)
    await requireRefused(t, options, named)
    assert.ok(node.changed > 0, lie.name)
  }
})

test('a fixture whose state was changed is refused by name', async (t) => {
  const node = await startNode(t, shared.complete.url)
  const folder = join(temporaryDirectory(t), 'fixture')
  const blocks = `${shared.first + 1}:`
  const recorded = await record(folder, { url: node.url, blocks, mode: 'proofs', args: ['--genesis', shared.genesis] })
  assert.equal(recorded.code, 0, recorded.stderr)
  const path = join(folder, 'fixture.state')
  const whole = readFileSync(path)
  const refused = async (pattern: RegExp, ...args: string[]) => {
    const datadir = temporaryDirectory(t)
    const { code, stderr } = await runCairn(['import', '--datadir', datadir, ...args, folder])
    assert.match(stderr, pattern)
    assert.notEqual(code, 0)
  }
  const random = seededRandom(7)
  for (let i = 0; i < (THOROUGH ? 100 : 2); i++) {
    const changed = Buffer.from(whole)
    changed[random.below(changed.length)] ^= 1 << random.below(8)
    writeFileSync(path, changed)
    await refused(/fixture\.state: /)
  }
  writeFileSync(path, whole.subarray(0, whole.length - 1))
  await refused(/fixture\.state: state: expected /)
  writeFileSync(path, whole)
  await refused(/--state execute: .*fixture\.state has the state that the recorded blocks need/, '--state', 'execute')
  const manifest = readManifest(folder)
  const manifestPath = join(folder, 'fixture.json')
  writeFileSync(manifestPath, JSON.stringify({ ...manifest, state: 'complete' }))
  await refused(/fixture\.json: state: expected "proved" because of fixture\.state, got "complete"/)
  writeFileSync(manifestPath, JSON.stringify({ ...manifest, format: 3 }))
  await refused(/fixture\.json: format: expected 1 or 2, got 3/)
  writeFileSync(manifestPath, JSON.stringify(manifest))
  rmSync(path)
  await refused(/fixture\.json: state: "proved" needs fixture\.state beside it, which is missing/)
})
