import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { encodeHeader } from '../../src/chain/eth/header.js'
import { measureRlp } from '../../src/chain/eth/rlp.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { readHeaderFile } from '../../src/sources/files/headerFile.js'
import { createMetaTable, META_STATE_TRIE } from '../../src/store/meta.js'
import { openAnySchema } from '../../src/store/open.js'
import { genesisOfSource } from '../../src/store/rows/chainSource.js'
import { readStateDump } from '../../src/store/state/stateDump.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { createGenesis } from '../support/chains/genesisChain.js'
import {
  compareSeed,
  type ServedChain,
  SOME,
  SPARSE_LIMITS,
  serveRandomChain,
} from '../support/compare/sparseAnswers.js'
import { seededRandom } from '../support/random.js'
import { resultOf, send } from '../support/rpcClient.js'
import {
  DUMP_WRITERS,
  type DumpWriter,
  formatDump,
  randomState,
  readWholeState,
  rootOfState,
} from '../support/sparse/stateDumps.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber, untilValue } from '../support/until.js'
import { startChangingProxy } from '../support/upstream/changingProxy.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

/* A database that begins with the whole state after a block follows an upstream that gives no state at all, and
 * answers as one that executed the chain from its genesis. */

const REQUESTS = THOROUGH ? 4_000 : 40
const MAX_SHOWN = 5
const STATE_METHODS =
  /^(eth_(getProof|getCode|getBalance|getStorageAt|getTransactionCount|call|createAccessList)|debug_executionWitness)$/

const shared = await serveRandomChain({ after }, 1)

/** An upstream that has blocks and receipts of the chain, and refuses what is about state. */
async function startStateless(t: TestContext, { complete }: ServedChain) {
  const proxy = await startChangingProxy(t, complete.url)
  proxy.fault = {
    error: ({ method }) => (STATE_METHODS.test(method) ? { code: -32000, message: 'no state here' } : undefined),
  }
  return proxy
}

/** Writes the state after a block as a dump, and the header as the chain's server returns it. */
async function writeDump(
  t: { after(callback: () => void | Promise<void>): void },
  chain: ServedChain,
  number: number,
  writer: DumpWriter,
) {
  const folder = temporaryDirectory(t)
  const blocks = cutChain(chain, number, folder)
  const datadir = join(folder, 'executed')
  await runCairnOk(['import', '--datadir', datadir, '--genesis', chain.genesis, blocks])
  const state = readWholeState(datadir)
  const header = await resultOf<{ stateRoot: string }>(chain.complete.url, 'eth_getBlockByNumber', [
    formatQuantity(number),
    false,
  ])
  assert.equal(formatData(rootOfState(state)), header.stateRoot)
  const [dump, at] = [join(folder, 'dump.jsonl'), join(folder, 'header.json')]
  writeFileSync(dump, formatDump(state, writer))
  writeFileSync(at, JSON.stringify(header))
  return { dump, at, state }
}

/** A file with the blocks of the chain up to a number. */
function cutChain({ genesis }: ServedChain, number: number, folder: string): string {
  const whole = readFileSync(join(dirname(genesis), 'chain.rlp'))
  let end = 0
  for (let i = 0; i < number; i++) end = measureRlp(whole, end)!.end
  const path = join(folder, 'blocks.rlp')
  writeFileSync(path, whole.subarray(0, end))
  return path
}

const sharedDump = await writeDump({ after }, shared, shared.first, DUMP_WRITERS[0])

for (const [i, writer] of DUMP_WRITERS.entries()) {
  if (i > 0 && !THOROUGH) continue
  test(`begun with a ${writer} dump, all is answered without any state from the upstream`, async (t) => {
    const chain = i === 0 ? shared : await serveRandomChain(t, i + 1)
    const proxy = await startStateless(t, chain)
    const { dump, at, state } = i === 0 ? sharedDump : await writeDump(t, chain, chain.first, writer)
    const datadir = temporaryDirectory(t)
    const imported = await runCairnOk([
      'import',
      '--datadir',
      datadir,
      '--genesis',
      chain.genesis,
      '--state-dump',
      dump,
      '--at',
      at,
    ])
    assert.match(
      imported,
      new RegExp(`^state after block ${chain.first} imported: ${state.length} accounts and \\d+ slots`, 'm'),
    )
    const published = await runCairn(['serve', '--datadir', datadir, '--upstream', proxy.url, '--replication'])
    assert.match(published.stderr, /the database began with the state dump of block \d+, which replicas would lack/)
    assert.match(
      await runCairnOk(['status', '--datadir', datadir]),
      /^state +a dump of block \d+, which is not stored yet$/m,
    )
    const server = await startCairn(t, ['--datadir', datadir, '--open', '--upstream', proxy.url, ...SPARSE_LIMITS])
    await untilBlockNumber(server, chain.head)
    const { compared, skipped, differences } = await compareSeed(server, chain, i + 5, REQUESTS, SOME)
    t.diagnostic(`first block ${chain.first} of ${chain.head}; compared ${compared}, skipped ${skipped}`)
    assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
    assert.ok(compared > REQUESTS / 4)
    await compareState({ url: server.url, chain, addresses: state.map(({ address }) => formatData(address)) })
    const asked = proxy.calls.filter(({ method }) => STATE_METHODS.test(method))
    assert.deepEqual(asked, [])
    const health = (await (await fetch(`${server.url}/health`)).json()) as { coverage: object }
    assert.deepEqual((health.coverage as { completeState: object }).completeState, { first: chain.first })
    await server.stop()
    assert.match(
      await runCairnOk(['status', '--datadir', datadir]),
      new RegExp(`from block ${chain.first}, sparse, complete from a dump`),
    )
    const verified = await runCairnOk(['verify', '--datadir', datadir])
    assert.match(
      verified,
      new RegExp(`^state dump: the root of ${state.length} accounts and \\d+ slots is right$`, 'm'),
    )
    assert.match(verified, new RegExp(`^state: roots of ${chain.head - chain.first} blocks, `, 'm'))
    // A copy of it answers without an upstream.
    const copy = join(temporaryDirectory(t), 'cairn.db')
    await runCairnOk(['backup', '--datadir', datadir, copy])
    const alone = await startCairn(t, ['--datadir', dirname(copy), '--open', ...SPARSE_LIMITS])
    const some = state.filter((_, i) => THOROUGH || i % 4 === 0)
    await compareState({ url: alone.url, chain, addresses: some.map(({ address }) => formatData(address)) })
  })
}

/** Fails unless accounts are the same at the first block, at the head, and between. */
async function compareState({ url, chain, addresses }: { url: string; chain: ServedChain; addresses: string[] }) {
  const random = seededRandom(1)
  const others = Array.from({ length: 5 }, () => formatData(random.bytes(20)))
  for (const address of [...addresses, ...others]) {
    for (const number of [chain.first, chain.head, chain.first + random.below(chain.head - chain.first)]) {
      const slot = formatQuantity(random.below(4))
      const batch = [
        ['eth_getBalance', address],
        ['eth_getTransactionCount', address],
        ['eth_getCode', address],
        ['eth_getStorageAt', address, slot],
        ['eth_getProof', address, [slot]],
      ].map(([method, ...params], id) => {
        return { jsonrpc: '2.0', id, method, params: [...params, formatQuantity(number)] }
      })
      const [own, wanted] = await Promise.all([url, chain.complete.url].map((each) => send(each, batch)))
      assert.ok(Array.isArray(own) && own.length === batch.length)
      assert.deepEqual(own, wanted, `${address} ${number}`)
    }
  }
}

test('a dump of another chain is refused by the block that the upstream has', async (t) => {
  const chain = shared
  const { dump } = sharedDump
  const { header } = readHeaderFile(sharedDump.at)
  const at = join(temporaryDirectory(t), 'header')
  writeFileSync(at, formatData(encodeHeader({ ...header, extraData: Uint8Array.of(1) })))
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, '--genesis', chain.genesis, '--state-dump', dump, '--at', at])
  const server = await startCairn(t, ['--datadir', datadir, '--open', '--upstream', chain.complete.url])
  const problem = await untilValue(async () => {
    const health = (await (await fetch(`${server.url}/health`)).json()) as { following: { problem: string | null } }
    return health.following.problem
  }, Boolean)
  assert.match(
    String(problem),
    /the state dump of this database is of block \d+ 0x[0-9a-f]{64}, the upstream has 0x[0-9a-f]{64}; follow another/,
  )
})

test('the command refuses what it cannot use, before it makes a database', async (t) => {
  const folder = temporaryDirectory(t)
  const [dump, at] = [join(folder, 'dump.jsonl'), join(folder, 'at')]
  writeFileSync(dump, '')
  const genesis = join(folder, 'genesis.json')
  writeFileSync(genesis, '{}')
  const cases: [string, string[], RegExp][] = [
    ['', ['--state-dump', dump], /--state-dump needs --at FILE: the header of the block/],
    ['', ['--at', at], /--at needs --state-dump FILE/],
    ['', ['--network', 'mainnet', '--state-dump', dump, '--at', at], /at: it is empty; expected the header of a block/],
    ['{}', ['--network', 'mainnet', '--state-dump', dump, '--at', at], /at: block\.parentHash: /],
    ['0xf', ['--network', 'mainnet', '--state-dump', dump, '--at', at], /at: expected an even number of hex digits/],
    ['0x01', ['--network', 'mainnet', '--state-dump', dump, '--at', at], /at: header: expected a list/],
    ['hello', ['--network', 'mainnet', '--state-dump', dump, '--at', at], /at: expected JSON, or RLP as bytes or hex/],
    [
      '',
      ['--network', 'mainnet', '--state', 'none', '--state-dump', dump, '--at', at],
      /--state none: a state dump begins/,
    ],
  ]
  for (const [text, args, expected] of cases) {
    writeFileSync(at, text)
    const { code, stderr } = await runCairn(['import', '--datadir', join(folder, 'data'), ...args])
    assert.equal(code, 2, stderr)
    assert.match(stderr, expected)
  }
})

test('what geth snapshot dump writes of a random chain begins a database that needs no state from it', {
  skip: SKIP_GETH,
}, async (t) => {
  const chain = shared
  const folder = temporaryDirectory(t)
  // geth keeps the snapshot of its head.
  const blocks = cutChain(chain, chain.first, folder)
  const geth = (...args: string[]) => {
    const ran = spawnSync('geth', ['--datadir', join(folder, 'geth'), ...args], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    assert.equal(ran.status, 0, ran.stderr)
    return ran.stdout
  }
  geth('init', chain.genesis)
  geth('import', blocks)
  const dump = join(folder, 'dump.jsonl')
  writeFileSync(dump, geth('snapshot', 'dump'))
  const at = join(folder, 'header')
  writeFileSync(at, await resultOf<string>(chain.complete.url, 'debug_getRawHeader', [formatQuantity(chain.first)]))
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, '--genesis', chain.genesis, '--state-dump', dump, '--at', at])
  const proxy = await startStateless(t, chain)
  const server = await startCairn(t, ['--datadir', datadir, '--open', '--upstream', proxy.url, ...SPARSE_LIMITS])
  await untilBlockNumber(server, chain.head)
  const { differences } = await compareSeed(server, chain, 11, REQUESTS, SOME)
  assert.deepEqual(differences.slice(0, MAX_SHOWN), [], `${differences.length} differences`)
})

const KILLS = THOROUGH ? 30 : 2
const [ACCOUNTS, SLOTS, LATEST_KILL_MS] = THOROUGH ? [3_000, 130_000, 3_000] : [500, 12_000, 700]

test('killed at any moment, an import resumes, and nothing is used before it is verified', async (t) => {
  const random = seededRandom(5)
  const folder = temporaryDirectory(t)
  const state = randomState(random, { accounts: ACCOUNTS, mostSlots: SLOTS })
  const [dump, at, genesis] = ['dump.jsonl', 'header', 'genesis.json'].map((name) => join(folder, name))
  const source = { genesis: createGenesis({}) }
  writeFileSync(genesis, JSON.stringify(source.genesis))
  writeFileSync(dump, formatDump(state, 'snapshot'))
  const header = { ...genesisOfSource(source).header, number: 100, stateRoot: rootOfState(state) }
  writeFileSync(at, formatData(encodeHeader(header)))
  const datadir = join(folder, 'data')
  const args = ['--datadir', datadir, '--genesis', genesis]
  const importing = ['import', ...args, '--state-dump', dump, '--at', at]
  let ended = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, ended: end } = spawnCairn(importing)
    const timer = setTimeout(() => child.kill('SIGKILL'), LATEST_KILL_MS / 6 + random.below(LATEST_KILL_MS))
    const { code } = await end
    clearTimeout(timer)
    if (code === 0) {
      ended++
      break
    }
    if (!existsSync(join(datadir, 'cairn.db'))) continue
    const db = openAnySchema(datadir)
    // Whoever was killed before the schema was committed leaves an empty file.
    const hasSchema = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'hashed_accounts'").get() !== undefined
    if (!hasSchema) {
      db.close()
      continue
    }
    const [verified, trie] = [readStateDump(db), createMetaTable(db).get(META_STATE_TRIE)]
    db.close()
    assert.equal(verified === undefined, trie === undefined)
  }
  const { code, stderr } = ended > 0 ? { code: 0, stderr: '' } : await runCairn(importing)
  const isComplete = code === 0 || /has the state dump of block 100 already/.test(stderr)
  assert.ok(isComplete, stderr)
  assert.match(
    await runCairnOk(['verify', '--datadir', datadir]),
    new RegExp(`^state dump: the root of ${ACCOUNTS} accounts and \\d+ slots is right$`, 'm'),
  )
})
