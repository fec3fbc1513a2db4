import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { type CairnServer, runCairn, serveFixture, spawnCairn, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { compareServers } from '../support/compare/compareServers.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber, untilValue } from '../support/until.js'

let upstream: CairnServer
const closing: (() => unknown)[] = []
before(async () => {
  upstream = await serveFixture({ after: (callback) => void closing.push(callback) })
})
after(async () => {
  for (const close of closing) await close()
})

const GENESIS = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]

interface Health {
  following: {
    state: string
    block: number
    upstreamBlock: number
    problem: string | null
    upstreams: { upstream: string; state: string }[]
  } | null
}

async function healthOf({ url }: CairnServer): Promise<Health> {
  return (await (await fetch(`${url}/health`)).json()) as Health
}

function syncArgs(datadir: string, upstream: string, ...rest: string[]): string[] {
  return ['sync', '--datadir', datadir, ...GENESIS, '--upstream', upstream, ...rest]
}

for (const transport of ['url', 'socketUrl'] as const) {
  const name = transport === 'url' ? 'HTTP' : 'WebSocket'
  test(`cairn sync over ${name} gives a server beside it the upstream's answers`, async (t: TestContext) => {
    const datadir = temporaryDirectory(t)
    const sync = spawnCairn(syncArgs(datadir, upstream[transport]))
    t.after(() => void sync.child.kill('SIGKILL'))
    await sync.waitFor('stderr', /"msg":"(syncing|following)"/)
    const server = await startCairn(t, ['--datadir', datadir, '--open'])
    await untilBlockNumber(server, HEAD)
    // Over HTTP by default: the next test.
    if (THOROUGH || transport === 'socketUrl') await compareServers(upstream, server, datadir)
    sync.child.kill('SIGTERM')
    const { code, stderr } = await sync.ended
    assert.equal(code, 0, stderr)
  })
}

test('cairn serve --upstream follows by itself, and says so in health, metrics and eth_syncing', async (t) => {
  const datadir = temporaryDirectory(t)
  const key = 'b2e5c3f1a09d4e76'
  const url = `${upstream.url.replace('//', '//user:hunter2@')}/v3/${key}?token=abc987`
  const header = 'X-Token: tiptop-secret'
  const args = ['--datadir', datadir, ...GENESIS, '--open', '--metrics', '--upstream', url, '--upstream-header', header]
  const server = await startCairn(t, [...args, '--log-level', 'debug'])
  await untilBlockNumber(server, HEAD)
  await compareServers(upstream, server, datadir)
  const health = await untilValue(
    () => healthOf(server),
    ({ following }) => following?.state !== 'starting' && following?.block === HEAD,
  )
  const { state, block, upstreamBlock, problem, upstreams } = health.following!
  assert.deepEqual(
    { state, block, upstreamBlock, problem, states: upstreams.map((each) => each.state) },
    { state: 'following', block: HEAD, upstreamBlock: HEAD, problem: null, states: ['ok'] },
  )
  assert.equal(await resultOf(server.url, 'eth_syncing'), false)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  assert.match(metrics, /^cairn_follow_state\{state="following"\} 1$/m)
  assert.match(metrics, new RegExp(`^cairn_upstream_head_block_number ${HEAD}$`, 'm'))
  const { stderr } = await server.stop()
  assert.match(
    stderr,
    new RegExp(`"block":${HEAD},"upstreamBlock":${HEAD},.*"msg":"following"`),
    'the log has the progress',
  )
  assert.doesNotMatch(stderr, /"secp256k1":"wasm"/) // a quarter as fast, for threads that may be terminated
  for (const secret of [key, 'hunter2', 'abc987', 'tiptop-secret']) {
    for (const text of [JSON.stringify(health), metrics, stderr]) assert.ok(!text.includes(secret), secret)
  }
})

test('without state a new database begins at --from, and blocks before it are refused, not null', async (t) => {
  const args = ['--state', 'none', '--from', '40', '--upstream', upstream.url]
  const server = await startCairn(t, ['--datadir', temporaryDirectory(t), ...GENESIS, '--open', ...args])
  await untilBlockNumber(server, HEAD)
  const same: [string, unknown[]][] = [
    ['eth_getBlockByNumber', ['0x28', true]],
    ['eth_getBlockReceipts', ['0x29']],
    ['eth_getLogs', [{ fromBlock: '0x28', toBlock: 'latest' }]],
    ['eth_getBlockByNumber', [`0x${(HEAD + 1).toString(16)}`, false]],
  ]
  for (const [method, params] of same) {
    assert.deepEqual(await ask(server.url, method, params), await ask(upstream.url, method, params), method)
  }
  const error = { code: -32000, message: `block 39 is not available, blocks 40 to ${HEAD} are` }
  const refused: [string, unknown[]][] = [
    ['eth_getBlockByNumber', ['0x27', false]],
    ['eth_getBlockReceipts', ['0x27']],
    ['eth_getBlockTransactionCountByNumber', ['0x27']],
    ['eth_getTransactionByBlockNumberAndIndex', ['0x27', '0x0']],
    ['eth_getUncleByBlockNumberAndIndex', ['0x27', '0x0']],
    ['eth_getUncleCountByBlockNumber', ['0x27']],
    ['debug_getRawBlock', ['0x27']],
  ]
  for (const [method, params] of refused) assert.deepEqual((await ask(server.url, method, params)).error, error, method)
  const stateless = (await ask(server.url, 'eth_getBalance', [`0x${'11'.repeat(20)}`, '0x29'])).error
  assert.deepEqual(stateless, { code: -32000, message: 'historical state 41 is not available' })
  const { coverage } = (await (await fetch(`${server.url}/health`)).json()) as { coverage: object }
  assert.deepEqual(coverage, { first: 40, head: HEAD, stateFirst: null, gap: null })
})

test('an upstream of another chain is refused by name, and no new database begins without a genesis', async (t) => {
  const datadir = temporaryDirectory(t)
  const other = await runCairn(['sync', '--datadir', datadir, '--network', 'hoodi', '--upstream', upstream.url])
  assert.equal(other.code, 1)
  assert.match(other.stderr, new RegExp(`^cairn: ${upstream.url}: chain id: expected 560048 .*20261$`, 'm'))
  const unnamed = await runCairn(['sync', '--datadir', join(datadir, 'new'), '--upstream', upstream.url])
  assert.equal(unnamed.code, 2)
  assert.match(unnamed.stderr, /which chain is it\?/)
})
