import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch } from '../support/chains/branches.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

interface Following {
  state: string
  problem: string | null
}

/** An upstream whose block 6 is finalized. */
async function startUpstream(t: TestContext) {
  const random = seededRandom(161)
  const grow = (trunk: Awaited<ReturnType<typeof growBranch>>, count: number) =>
    growBranch(temporaryDirectory(t), { trunk, count, random })
  const trunk = await grow([], 9)
  const upstream = await startForkingUpstream(t, trunk)
  upstream.tags = { safe: 7, finalized: 6 }
  const genesis = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesis, JSON.stringify(BRANCHES_GENESIS))
  const datadir = temporaryDirectory(t)
  const kept = trunk.slice(0, 4)
  const other = [...kept, ...(await grow(kept, 8))]
  return { upstream, trunk, other, grow, datadir, args: ['--datadir', datadir, '--genesis', genesis] }
}

/** A server whose upstream has replaced blocks from 5 on. */
async function startWithAlarm(t: TestContext) {
  const { upstream, trunk, other, grow, datadir, args } = await startUpstream(t)
  const { url, stop } = await startCairn(t, [...args, '--open', '--metrics', '--upstream', upstream.wsUrl])
  const hashOf = async (block: string) =>
    (await resultOf<{ hash: string } | null>(url, 'eth_getBlockByNumber', [block, false]))?.hash
  const following = async () => {
    const health = (await (await fetch(`${url}/health`)).json()) as { following: Following }
    return health.following
  }
  const reaches = (block: { hash: Uint8Array }) =>
    until(async () => (await hashOf('latest')) === formatData(block.hash))
  await reaches(trunk[8])
  await until(async () => (await hashOf('finalized')) === formatData(trunk[5].hash))
  await upstream.become(other)
  await until(async () => (await following()).state === 'alarm')
  const metrics = async () => (await fetch(`${url}/metrics`)).text()
  return { upstream, trunk, other, grow, datadir, url, stop, hashOf, following, reaches, metrics }
}

test('a fork below the finalized block is an alarm; serving continues; after a rewind it is followed', async (t) => {
  const { other, trunk, datadir, url, stop, hashOf, following, reaches, metrics } = await startWithAlarm(t)
  const problem = /a branch that begins after block 4 would replace finalized block 6; 'cairn rewind --to 4'/
  assert.match(String((await following()).problem), problem)
  await until(async () => /^cairn_follow_state\{state="alarm"\} 1$/m.test(await metrics()))
  assert.equal(await hashOf('latest'), formatData(trunk[8].hash))
  assert.equal(await hashOf('finalized'), formatData(trunk[5].hash))
  assert.equal(await resultOf(url, 'eth_getBalance', [`0x${'11'.repeat(20)}`, 'latest']), '0x0')
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '4'])
  await reaches(other[11])
  await until(async () => (await following()).state === 'following')
  assert.equal((await following()).problem, null)
  await until(async () => /^cairn_follow_state\{state="alarm"\} 0$/m.test(await metrics()))
  const { stderr } = await stop()
  const alarms = stderr.split('\n').filter((line) => line.includes('"level":50'))
  assert.equal(alarms.length, 1, stderr)
  assert.match(alarms[0], problem)
})

test('after an alarm, following resumes by itself when the upstream has the finalized block again', async (t) => {
  const { upstream, trunk, grow, following, reaches } = await startWithAlarm(t)
  const well = [...trunk, ...(await grow(trunk, 2))]
  await upstream.become(well)
  await reaches(well[10])
  await until(async () => (await following()).state === 'following')
  assert.equal((await following()).problem, null)
})

test('cairn sync waits after an alarm, too, and resumes after cairn rewind', async (t) => {
  const { upstream, other, datadir, args } = await startUpstream(t)
  const sync = spawnCairn(['sync', ...args, '--upstream', upstream.wsUrl])
  t.after(() => void sync.child.kill('SIGKILL'))
  await sync.waitFor('stderr', /"msg":"following"/)
  await until(() => readChain(datadir).finalized === 6)
  await upstream.become(other)
  await sync.waitFor('stderr', /'cairn rewind --to 4'.*following stopped/)
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '4'])
  await until(() => readChain(datadir).head === 12)
  sync.child.kill('SIGTERM')
  const { code, stderr } = await sync.ended
  assert.equal(code, 0, stderr)
})

function readChain(datadir: string) {
  const db = openForReading(datadir)
  try {
    const chain = createChainReader(db)
    return { head: chain.head(), finalized: chain.finality()?.finalized }
  } finally {
    db.close()
  }
}
