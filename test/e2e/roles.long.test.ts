import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatData } from '../../src/lib/hex.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { growBranch } from '../support/chains/branches.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { compareRows } from '../support/compare/compareChains.js'
import { branchesDirectory, startMember, untilFollowing, untilHead, untilRole } from '../support/members.js'
import { NEEDS_NATS, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* `cairn serve --publish`, `--replica nats://…` and `--standby` against a real nats-server. */

const random = seededRandom(1818)
const hashOf = (block: { hash: Uint8Array } | undefined) => formatData(block!.hash)

test(
  'the blocks of an upstream reach a replica and a standby, which takes over after kill -9 of the writer',
  NEEDS_NATS,
  async (t) => {
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 30, random })
    const upstream = await startForkingUpstream(t, trunk.slice(0, 20))
    const nats = await startNats(t)
    const writer = await startMember(t, await branchesDirectory(t), ['--publish', nats.url, '--upstream', upstream.url])
    await untilRole(writer, 'writer')
    const replica = await startMember(t, await branchesDirectory(t), ['--replica', nats.url])
    const standby = await startMember(t, await branchesDirectory(t), [
      ...['--replica', nats.url, '--standby', '--upstream', upstream.url],
    ])
    await untilHead([writer, replica, standby], hashOf(trunk[19]))
    assert.equal((await standby.replication()).role, 'standby')
    const { epoch } = await writer.replication()
    await writer.kill()
    await untilRole(standby, 'writer')
    assert.ok((await standby.replication()).epoch > epoch)
    await upstream.become(trunk)
    await untilHead([standby, replica], hashOf(trunk[29]))
    const again = await startMember(t, writer.datadir, ['--publish', nats.url, '--upstream', upstream.url])
    await untilHead([again], hashOf(trunk[29]))
    assert.equal((await again.replication()).role, 'standby')
    for (const each of [replica, standby, again]) {
      await each.stop()
      compareRows(each.datadir, upstream.datadir, each.datadir)
    }
  },
)

// With the same block ahead, less is undone.
for (const branch of THOROUGH ? (['the same block', 'another block'] as const) : (['another block'] as const)) {
  test(
    `a writer that was frozen beyond its lease is fenced, and comes back as a standby: ${branch}`,
    NEEDS_NATS,
    async (t) => {
      const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 12, random })
      const fork = await growBranch(temporaryDirectory(t), { trunk: trunk.slice(0, 10), count: 3, random })
      const kept = branch === 'the same block' ? trunk : [...trunk.slice(0, 10), ...fork]
      const [stale, fresh] = [
        await startForkingUpstream(t, trunk.slice(0, 10)),
        await startForkingUpstream(t, trunk.slice(0, 10)),
      ]
      const nats = await startNats(t)
      const first = await startMember(t, await branchesDirectory(t), ['--publish', nats.url, '--upstream', stale.url])
      await untilRole(first, 'writer')
      await untilHead([first], hashOf(trunk[9]))
      const second = await startMember(t, await branchesDirectory(t), ['--publish', nats.url, '--upstream', fresh.url])
      const replica = await startMember(t, await branchesDirectory(t), ['--replica', nats.url])
      await untilHead([second, replica], hashOf(trunk[9]))
      assert.equal((await second.replication()).role, 'standby')
      first.signal('SIGSTOP')
      await stale.become(trunk)
      await untilRole(second, 'writer')
      // The frozen one has a block ahead of it, which finds it when it wakes up.
      await fresh.become(kept.slice(0, 11))
      await untilHead([replica], hashOf(kept[10]))
      first.signal('SIGCONT')
      await untilRole(first, 'standby')
      await fresh.become(kept)
      await untilHead([first, second, replica], hashOf(kept.at(-1)))
      for (const each of [first, second, replica]) {
        await untilFollowing(each)
        await each.stop()
        compareRows(each.datadir, fresh.datadir, each.datadir)
      }
    },
  )
}

test(
  'a writer without an upstream publishes what is imported beside it, and stops at once for its standby',
  NEEDS_NATS,
  async (t) => {
    const nats = await startNats(t)
    const genesis = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
    const importing = (datadir: string) => ['import', FIXTURE_FOLDER, '--datadir', datadir]
    const writer = await startMember(t, temporaryDirectory(t), ['--publish', nats.url, ...genesis])
    await untilRole(writer, 'writer')
    const standby = await startMember(t, temporaryDirectory(t), ['--replica', nats.url, '--standby', ...genesis])
    await runCairnOk(importing(writer.datadir))
    await untilHead([standby], await writer.head())
    assert.equal(Number(await resultOf(standby.url, 'eth_blockNumber', [])), HEAD)
    const refused = await runCairn(importing(standby.datadir))
    assert.match(refused.stderr, /is being written by another cairn process/)
    const status = JSON.parse(await runCairnOk(['status', '--json', '--datadir', writer.datadir])) as {
      replication: { applied: null; published: { block: number; epoch: number } }
    }
    assert.equal(status.replication.applied, null)
    assert.equal(status.replication.published.block, HEAD)
    const { epoch } = await writer.replication()
    await writer.stop()
    await untilRole(standby, 'writer')
    assert.ok((await standby.replication()).epoch > epoch)
    assert.match((await runCairn(importing(standby.datadir))).stderr, /^(?!.*is being written)/s)
    await standby.stop()
    compareRows(standby.datadir, writer.datadir, 'the standby')
  },
)

test('kill -9 of either of two writers at any moment loses nothing and doubles nothing', {
  ...NEEDS_NATS,
  // One kill of the writer is in the first test.
  skip: NEEDS_NATS.skip || (!THOROUGH && 'kills twenty times: npm run test:thorough'),
}, async (t) => {
  const kills = 20
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 10 + 5 * kills, random })
  const upstream = await startForkingUpstream(t, trunk.slice(0, 10))
  const nats = await startNats(t)
  const args = ['--publish', nats.url, '--upstream', upstream.url]
  const members = [
    await startMember(t, await branchesDirectory(t), args),
    await startMember(t, await branchesDirectory(t), args),
  ]
  const replica = await startMember(t, await branchesDirectory(t), ['--replica', nats.url])
  for (let kill = 0; kill < kills; kill++) {
    const victim = random.below(2)
    await upstream.become(trunk.slice(0, 15 + 5 * kill))
    await sleep(random.below(4000))
    await members[victim].kill()
    members[victim] = await startMember(t, members[victim].datadir, args)
  }
  await untilHead([...members, replica], hashOf(trunk.at(-1)))
  for (const each of [...members, replica]) {
    await untilFollowing(each)
    await each.stop()
    compareRows(each.datadir, upstream.datadir, each.datadir)
  }
})

test('without NATS a server answers from what it has, follows nothing, and stops cleanly', NEEDS_NATS, async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 5, random })
  const upstream = await startForkingUpstream(t, trunk)
  const args = ['--publish', 'nats://127.0.0.1:1', '--upstream', upstream.url]
  const alone = await startMember(t, await branchesDirectory(t), args)
  await until(async () => /NATS at 127.0.0.1:1: /.test((await alone.replication()).problem ?? ''))
  assert.equal((await alone.replication()).role, 'standby')
  assert.equal(await resultOf(alone.url, 'eth_blockNumber', []), '0x0')
  await alone.stop()
  const { code, stderr } = await runCairn([
    'serve',
    '--publish',
    'nats://127.0.0.1:1',
    '--nats-credentials',
    '/nowhere',
  ])
  assert.equal(code, 2)
  assert.match(stderr, /--nats-credentials \/nowhere: /)
})
