import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { growRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { type ChainFacts, readFacts } from '../../tools/fuzz-chain/facts.js'
import { type CairnServer, runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { compareWithComplete, type ServedChain, SPARSE_LIMITS } from '../support/compare/sparseAnswers.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilValue } from '../support/until.js'
import { type ChangingProxy, startChangingProxy } from '../support/upstream/changingProxy.js'
import type { UpstreamCall } from '../support/upstream/scriptedUpstream.js'

/* A server with sparse state is away for some blocks of Amsterdam. Its upstream, a complete Cairn, has the states of
 * its newest 128 blocks behind a proxy, with or without access lists. Afterwards each answer is that of the complete
 * one, or says that the state is not known. */

const AWAY = THOROUGH ? [10, 129, 1_000] : [129]
const REQUESTS = THOROUGH ? 3_000 : 100
// Of the requests each how many-th is sent.
const STEP = THOROUGH ? 1 : 120
const READS = THOROUGH ? 600 : 20
/** Transactions of a block, at most. */
const MOST = THOROUGH ? 7 : 3
const KILLS = THOROUGH ? 12 : 1
const SEED = Number(process.env.SEED ?? 1)
const STATES = 128
/** Blocks that are executed before the server is away, and afterwards. */
const [BEFORE, AFTER] = [12, 6]
const FEW_THREADS = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' }
const MAX_SHOWN = 5
const NOT_KNOWN =
  /is not known: block \d+ may have changed it|is not known: it was fetched and is not known|^historical state \d+ is not available|the state trie is not known there/

test('sparse state after the server was away', async (t) => {
  const served = await serveChain(t)
  for (const away of AWAY) {
    for (const hasLists of [true, false]) {
      // Without lists by default: sparse.long, behind geth.
      if (!hasLists && !THOROUGH) continue
      const name = `away for ${away} blocks, ${hasLists ? 'with' : 'without'} access lists`
      await t.test(name, (each) => compareAfter(each, served, { away, hasLists }))
    }
  }
  await t.test('killed while states come from access lists', (each) => killWhileListing(each, served))
  if (!THOROUGH) return
  await t.test('rewound into blocks whose states come from access lists, and the lists run out', (each) =>
    rewindIntoListed(each, served),
  )
  await t.test('an upstream that sends invalid access lists is quarantined, and nothing of it is stored', (each) =>
    sendInvalidLists(each, served),
  )
})

async function compareAfter(
  t: TestContext,
  served: ServedTail,
  { away, hasLists }: { away: number; hasLists: boolean },
): Promise<void> {
  const network = await startNetwork(t, served, { away, hasLists })
  const { left, first } = network
  const random = seededRandom(SEED)
  const datadir = temporaryDirectory(t)
  const before = await startSparse(t, network, datadir)
  await untilHead(before, left)
  await compareHeights(before, network, { random, from: first, to: left })
  await before.stop()
  if (away === STATES + 1 && hasLists) cpSync(datadir, served.leftAt, { recursive: true })
  network.head = left + away
  const server = await startSparse(t, network, datadir)
  await untilHead(server, network.head)
  network.head = network.last
  await untilHead(server, network.head)
  const { stateFirst, closedStates = [], listedStates = [] } = await coverage(server)
  const isGap = away > STATES
  assert.equal(stateFirst === first, !isGap || hasLists)
  assert.equal(closedStates.length, isGap && !hasLists ? 1 : 0)
  assert.equal(listedStates.length, isGap && hasLists ? 1 : 0)
  const again = Math.max(left, listedStates.at(-1)?.last ?? 0, stateFirst!) + 1
  const places = { before: [first + 1, left], in: [left + 1, again - 1], after: [again, network.last] }
  for (const [place, [from, to]] of Object.entries(places)) {
    if (from > to) continue
    const { answered, unknown, errors } = await compareHeights(server, network, { random, from, to })
    t.diagnostic(`${place} the gap, blocks ${from} to ${to}: ${answered} answered, ${unknown} not known`)
    // What is not known is fetched, unless a block that was not executed changed it.
    if (place === 'after' || !isGap) assert.deepEqual(errors.slice(0, MAX_SHOWN), [])
    if (hasLists) assert.ok(answered > unknown, `${answered} answered, ${unknown} not`)
  }
  const options = { random, count: REQUESTS, step: STEP, unknown: isGap ? NOT_KNOWN : undefined }
  const { compared, unknown, differences } = await compareWithComplete(server, network, options)
  t.diagnostic(`random requests: ${compared} answered alike, ${unknown} not known`)
  assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
  await server.stop()
  if (!isGap) return
  const report = await runCairnOk(['verify', '--datadir', datadir])
  assert.match(report, hasLists ? /states of \d+ blocks come from access lists/ : /^state: roots of \d+ /m)
}

/** A network that has grown by a block more than the upstream has states of, since the server left in the first
 *  comparison with access lists. */
async function leaveForLists(t: TestContext, served: ServedTail) {
  const network = await startNetwork(t, served, { away: STATES + 1, hasLists: true })
  const random = seededRandom(SEED)
  const datadir = temporaryDirectory(t)
  cpSync(served.leftAt, datadir, { recursive: true })
  network.head = network.last
  return { network, random, datadir }
}

async function killWhileListing(t: TestContext, served: ServedTail): Promise<void> {
  const { network, random, datadir } = await leaveForLists(t, served)
  let reached = network.left
  network.slow = 15
  for (let kill = 0; kill < KILLS; kill++) {
    const server = spawnCairn(
      ['serve', '--port', '0', '--log-level', 'error', ...sparseArgs(network, datadir)],
      FEW_THREADS,
    )
    const [, url] = await server.waitFor('stdout', /^ready (\S+)\n/)
    await until(async () => (await listedTo(url)) > reached || (await headOf(url)) === network.head)
    await delay(random.below(200))
    reached = await listedTo(url)
    server.child.kill('SIGKILL')
    await server.ended
    const { code, stderr, stdout } = await runCairn(['verify', '--datadir', datadir])
    assert.equal(code, 0, `after kill ${kill}: ${stderr}${stdout}`)
  }
  network.slow = 0
  const filled = await startSparse(t, network, datadir)
  await untilHead(filled, network.head)
  const { listedStates } = await coverage(filled)
  assert.equal(listedStates?.length, 1)
  const all = { random, from: network.first, to: network.head }
  await compareHeights(filled, network, all)
}

async function rewindIntoListed(t: TestContext, served: ServedTail): Promise<void> {
  const { network, random, datadir } = await leaveForLists(t, served)
  const filled = await startSparse(t, network, datadir)
  await untilHead(filled, network.head)
  await filled.stop()
  // Into the blocks that were not executed, where the upstream has the states: they are executed.
  const rewindTo = async (to: number, listed: RegExp) => {
    await runCairnOk(['rewind', '--to', String(to), '--datadir', datadir])
    assert.match(await runCairnOk(['verify', '--datadir', datadir]), listed)
  }
  await rewindTo(network.left + 20, /states of 20 blocks come from access lists/)
  const executing = await startSparse(t, network, datadir)
  await untilHead(executing, network.head)
  await compareHeights(executing, network, { random, from: network.left + 21, to: network.head })
  await executing.stop()
  // Where it has pruned them, and has no lists any more.
  const to = network.left + 5
  await rewindTo(to, /states of 5 blocks come from access lists/)
  network.hasLists = false
  const server = await startSparse(t, network, datadir)
  await untilHead(server, network.head)
  const { closedStates } = await coverage(server)
  assert.deepEqual(closedStates, [{ first: network.first, last: to }])
  const { answered, unknown } = await compareHeights(server, network, { random, from: network.first, to })
  t.diagnostic(`in the closed interval ${answered} answered, ${unknown} not known`)
  await server.stop()
  const status = await runCairnOk(['status', '--datadir', datadir])
  assert.match(status, new RegExp(`states of blocks ${network.left + 1} to ${to} come from access lists`))
}

async function sendInvalidLists(t: TestContext, served: ServedTail): Promise<void> {
  const network = await startNetwork(t, served, { away: STATES + 1, hasLists: true })
  const datadir = temporaryDirectory(t)
  const before = await startSparse(t, network, datadir)
  await untilHead(before, network.left)
  await before.stop()
  network.head = network.last
  network.isInvalid = true
  const server = await startSparse(t, network, datadir)
  const problem = await untilValue(async () => (await health(server)).problem, Boolean)
  assert.equal(problem?.check, 'access list hash')
  assert.ok((await headOf(server.url)) < network.head)
  await server.stop()
  network.isInvalid = false
  const again = await startSparse(t, network, datadir)
  await untilHead(again, network.head)
  const random = seededRandom(SEED)
  await compareHeights(again, network, { random, from: network.first, to: network.head })
}

/** A complete server over a random chain that ends with blocks of Amsterdam. */
type ServedTail = Omit<ServedChain, 'first' | 'head'> & {
  /** The newest block. */
  readonly last: number
  /** Directory of the database of a server that was stopped before the gap of 129 blocks. */
  readonly leftAt: string
}

interface Network extends ServedChain {
  readonly last: number
  readonly proxy: ChangingProxy
  /** The newest block when the server leaves. */
  readonly left: number
  /** The newest block that the upstream shows. */
  head: number
  hasLists: boolean
  /** Access lists are changed. */
  isInvalid: boolean
  /** Milliseconds that each request takes. */
  slow: number
}

async function serveChain(t: TestContext): Promise<ServedTail> {
  const folder = temporaryDirectory(t)
  const grown = await growRandomChain(SEED, { tail: BEFORE + Math.max(...AWAY) + AFTER, most: MOST })
  t.after(() => grown.close())
  await grown.add()
  const genesis = join(folder, 'genesis.json')
  writeFileSync(genesis, grown.genesis)
  writeFileSync(join(folder, 'chain.rlp'), grown.encode())
  const complete = await startCairn(t, ['--fixture', folder, ...SPARSE_LIMITS])
  const facts = await readFacts((method, params) => resultOf(complete.url, method, params), grown)
  return { complete, genesis, facts, last: grown.head, leftAt: temporaryDirectory(t) }
}

/** The complete server behind a proxy that shows a part of its chain, with the states of a full node. */
async function startNetwork(
  t: TestContext,
  served: ServedTail,
  { away, hasLists }: { away: number; hasLists: boolean },
): Promise<Network> {
  const proxy = await startChangingProxy(t, served.complete.url)
  const left = served.last - AFTER - away
  const network = { ...served, proxy, first: left - BEFORE, left, head: left, hasLists, isInvalid: false, slow: 0 }
  proxy.fault = {
    delayMs: () => network.slow,
    call: (call) => hideAbove(call, network.head),
    error: (call) => refusalOf(call, network),
    result: ({ method }, result) =>
      network.isInvalid && method === 'debug_getRawBlockAccessList' ? `${String(result).slice(0, -2)}c1` : result,
  }
  return network
}

/** The call with an earlier head in place of the newest block. */
function hideAbove(call: UpstreamCall, head: number): UpstreamCall {
  const [first, ...rest] = call.params as unknown[]
  return first === 'latest' ? { ...call, params: [`0x${head.toString(16)}`, ...rest] } : call
}

function refusalOf(
  { method, params }: UpstreamCall,
  { head, hasLists, facts }: Pick<Network, 'head' | 'hasLists'> & { facts: ChainFacts },
): { code: number; message: string } | undefined {
  if (/BlockAccessList$/.test(method)) {
    return hasLists ? undefined : { code: -32601, message: `the method ${method} does not exist/is not available` }
  }
  if (!/^eth_(getProof|getCode|createAccessList)$|^debug_executionWitness/.test(method)) return undefined
  const hash = /0x[0-9a-f]{64}/.exec(JSON.stringify((params as unknown[]).at(method.startsWith('debug') ? 0 : -1)))?.[0]
  const number = facts.blockHashes.indexOf(hash ?? '')
  if (number < 0) return { code: -32602, message: `invalid argument ${JSON.stringify(params)}` }
  const isOld = number <= head - STATES
  return isOld ? { code: -32000, message: `missing trie node of block ${number} (state is not available)` } : undefined
}

const sparseArgs = ({ genesis, first, proxy }: Network, datadir: string) => [
  ...['--datadir', datadir, '--open', '--genesis', genesis, '--state', 'sparse', '--from', String(first)],
  ...['--upstream', proxy.url, '--state-fetch', 'proofs', ...SPARSE_LIMITS],
]

function startSparse(t: TestContext, network: Network, datadir: string): Promise<CairnServer> {
  return startCairn(t, sparseArgs(network, datadir))
}

/** Reads accounts, slots and calls at random heights from both servers. Each answer is that of the complete one, or the
 *  error that the state is not known. */
async function compareHeights(
  { url }: CairnServer,
  { complete, facts }: Network,
  { random, from, to }: { random: SeededRandom; from: number; to: number },
): Promise<{ answered: number; unknown: number; errors: string[] }> {
  const count = { answered: 0, unknown: 0, errors: [] as string[] }
  for (let i = 0; i < READS; i++) {
    const block = `0x${(from + random.below(to - from + 1)).toString(16)}`
    const address = facts.addresses[random.below(facts.addresses.length)]
    const slot = `0x${random.below(4).toString(16).padStart(64, '0')}`
    const [method, params] = [
      ['eth_getBalance', [address, block]],
      ['eth_getTransactionCount', [address, block]],
      ['eth_getCode', [address, block]],
      ['eth_getStorageAt', [address, slot, block]],
      ['eth_call', [{ to: address, gas: '0x186a0' }, block]],
      ['debug_traceBlockByNumber', [block, { tracer: 'callTracer' }]],
    ][random.below(6)] as [string, unknown[]]
    const [own, wanted] = await Promise.all([url, complete.url].map((each) => ask(each, method, params)))
    if (JSON.stringify(own) === JSON.stringify(wanted)) count.answered++
    else {
      assert.match(own.error?.message ?? JSON.stringify(own), NOT_KNOWN, `${method} ${JSON.stringify(params)}`)
      count.unknown++
      count.errors.push(`${method} ${JSON.stringify(params)}: ${own.error?.message}`)
    }
  }
  return count
}

interface Health {
  head: { number: number } | null
  problem: { check: string } | null
  coverage: {
    stateFirst: number | null
    closedStates?: { first: number; last: number }[]
    listedStates?: { first: number; last: number }[]
  } | null
}

async function health({ url }: { url: string }): Promise<Health> {
  return (await (await fetch(`${url}/health`)).json()) as Health
}

async function coverage(server: { url: string }) {
  return (await health(server)).coverage!
}

async function headOf(url: string): Promise<number> {
  return (await health({ url })).head?.number ?? -1
}

async function listedTo(url: string): Promise<number> {
  return (await coverage({ url }))?.listedStates?.at(-1)?.last ?? -1
}

function untilHead({ url }: CairnServer, head: number): Promise<unknown> {
  return untilValue(
    () => headOf(url),
    (number) => number === head,
  )
}
