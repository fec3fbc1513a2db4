import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HealthReport } from '../../src/server/admin/healthReport.js'
import { type CairnServer, runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilValue } from '../support/until.js'
import { startAnvilPeer } from '../support/upstream/anvil.js'
import type { Peer } from '../support/upstream/followPeer.js'
import { findFoundry } from '../support/upstream/foundry.js'

/* A development node whose state roots are wrong is followed all the same. */

const anvil = findFoundry('anvil')
const skip = anvil === undefined && 'anvil cannot be installed'

const GAS = '0x30d40'
const PLAIN = { gas: GAS, to: `0x${'5b'.repeat(20)}`, value: '0x1' }
// Creations after which anvil 1.7.1 has a root that no state has.
const ZERO_WRITTEN = '0x5f5f555f5ff3' // SSTORE(0, 0) in a constructor
const FAILED = '0xfe'
const DESTROYED = '0x33ff' // SELFDESTRUCT in a constructor

async function readHealth({ url }: CairnServer): Promise<HealthReport> {
  return (await (await fetch(`${url}/health`)).json()) as HealthReport
}

/** Waits until the server answers about itself as wanted. */
const untilHealth = (server: CairnServer, isWanted: (health: HealthReport) => boolean) =>
  untilValue(() => readHealth(server), isWanted)

async function startPeer(t: TestContext): Promise<Peer> {
  const peer = await startAnvilPeer(t, anvil!)
  await peer.mine([PLAIN, PLAIN])
  return peer
}

test('anvil is followed after its first wrong state root; health, status and the log say from which block on the state is not verified', {
  skip,
}, async (t) => {
  const peer = await startPeer(t)
  const datadir = temporaryDirectory(t)
  const options = ['--open', '--network', 'dev', '--upstream', peer.wsUrl, '--log-level', 'warn']
  const server = await startCairn(t, ['--datadir', datadir, ...options])
  await untilHealth(server, ({ head }) => head?.number === 2)
  const before = await readHealth(server)
  assert.deepEqual([before.verified, before.unverifiedFrom], [true, null])
  await peer.mine([{ gas: GAS, data: ZERO_WRITTEN }, { gas: GAS, data: FAILED }, { gas: GAS, data: DESTROYED }, PLAIN])
  const { verified, unverifiedFrom, problem, following } = await untilHealth(server, ({ head }) => head?.number === 6)
  assert.deepEqual([verified, unverifiedFrom, problem, following!.state], [false, 3, null, 'following'])
  const balance = await resultOf<string>(server.url, 'eth_getBalance', [PLAIN.to, 'latest'])
  assert.equal(balance, '0x3')
  await server.running.waitFor('stderr', /state root of the development node is wrong; .* from block 3 on/)
  const status = await runCairnOk(['status', '--datadir', datadir])
  assert.match(status, /^verified +no: from block 3 on, whose state root the development node has wrong/m)
  await server.stop()
  await runCairnOk(['verify', '--datadir', datadir])
  const { code, stderr } = await runCairn(['sync', '--datadir', datadir, '--upstream', peer.wsUrl, '--strict'])
  assert.equal(code, 2)
  assert.match(stderr, /--strict: state roots were not compared from block 3 on; 'cairn rewind --to 2' removes/)
})

for (const [name, data] of Object.entries({ 'a creation fails': FAILED, 'a contract is destroyed': DESTROYED })) {
  test(`with --strict the block in which ${name} is refused, and the server says so`, { skip }, async (t) => {
    const peer = await startPeer(t)
    await peer.mine([{ gas: GAS, data }])
    const options = ['--open', '--network', 'dev', '--upstream', peer.wsUrl, '--strict']
    const server = await startCairn(t, ['--datadir', temporaryDirectory(t), ...options])
    const { problem, head, verified } = await untilHealth(server, (health) => health.problem !== null)
    assert.deepEqual([problem!.check, problem!.block, head!.number, verified], ['state root', 3, 2, true])
  })
}
