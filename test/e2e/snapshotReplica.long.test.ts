import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { streamName, streamSubject } from '../../src/replication/nats/stream.js'
import { REPLACED } from '../../src/snapshots/replaceDatabase.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { growBranch } from '../support/chains/branches.js'
import { compareRows } from '../support/compare/compareChains.js'
import { freePort } from '../support/freePort.js'
import { branchesDirectory, startMember, untilFollowing, untilHead, untilRole } from '../support/members.js'
import { NEEDS_NATS, openLink, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* Replicas of a real nats-server that begin with a snapshot. */

const random = seededRandom(1821)
const hashOf = (block: { hash: Uint8Array } | undefined) => formatData(block!.hash)

/** Makes the stream of the chain in a database, which keeps few messages. */
async function makeShortStream(t: TestContext, nats: { url: string }, datadir: string): Promise<void> {
  const db = openForReading(datadir)
  const reader = createChainReader(db)
  const chain = { chainId: reader.chainId(), genesisHash: reader.blockHash(0)! }
  db.close()
  const { manager } = await openLink(t, [nats])
  await manager.streams.add({ name: streamName(chain), subjects: [streamSubject(chain)], max_msgs: 20 })
}

test(
  'a new replica begins with the newest snapshot and resumes by sequence; one behind the stream replaces its database',
  NEEDS_NATS,
  async (t) => {
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 130, random })
    const upstream = await startForkingUpstream(t, trunk.slice(0, 50))
    const nats = await startNats(t)
    const datadir = await branchesDirectory(t)
    await makeShortStream(t, nats, datadir)
    const writer = await startMember(t, datadir, ['--publish', nats.url, '--upstream', upstream.url])
    await untilRole(writer, 'writer')
    const reach = async (count: number) => {
      await upstream.become(trunk.slice(0, count))
      await untilHead([writer], hashOf(trunk[count - 1]))
      await until(async () => (await writer.replication()).lagBlocks === 0)
    }
    const place = join(temporaryDirectory(t), 'snapshots')
    const snapshot = async () => {
      await runCairnOk(['snapshot', 'create', place, '--datadir', datadir])
      const [newest] = JSON.parse(await runCairnOk(['snapshot', 'list', place, '--json'])) as {
        head: { number: number }
        position: { sequence: number } | null
      }[]
      return newest
    }
    await reach(50)
    const { head, position } = await snapshot()
    assert.equal(head.number, 50)
    assert.ok(position !== null && position.sequence > 0)
    await reach(60)

    // No chain is named: it comes with the snapshot. The stream begins beyond the genesis.
    const own = join(temporaryDirectory(t), 'new')
    const args = ['--replica', nats.url, '--snapshots', place]
    const replica = await startMember(t, own, args)
    await untilHead([replica], hashOf(trunk[59]))
    await untilFollowing(replica)
    // The sequence is reported a moment after the blocks.
    const { sequence } = await writer.replication()
    await until(async () => (await replica.replication()).sequence === sequence)
    await runCairnOk(['keys', 'create', 'of the replica', '--datadir', own])
    await replica.stop()
    compareRows(own, datadir, 'after the bootstrap')

    await reach(120)
    const behind = await startMember(t, own, args)
    await until(async () => (await behind.replication()).state === 'alarm')
    assert.equal(await behind.head(), hashOf(trunk[59]))
    assert.match((await behind.replication()).problem!, /not available there any more/)
    await behind.stop()
    await snapshot()
    await reach(130)
    // It answers at the same port before and after.
    const again = await startMember(t, own, [...args, '--port', String(await freePort())])
    await until(async () => (await again.head().catch(() => '')) === hashOf(trunk[129]))
    await untilHead([again], hashOf(trunk[129]))
    await again.stop()
    compareRows(own, datadir, 'after the database was replaced')
    assert.equal(existsSync(join(own, REPLACED)), false)
    assert.match(await runCairnOk(['keys', 'list', '--datadir', own]), /of the replica/)
    await writer.stop()
    const parts = ['--file', '--blocks', '--state-history', '--index'] // the layer-2 blocks of this chain are invented
    await runCairnOk(['verify', '--datadir', own, ...parts])
  },
)

test('without a snapshot a replica begins with the genesis; one of another chain is refused', NEEDS_NATS, async (t) => {
  const nats = await startNats(t)
  const place = join(temporaryDirectory(t), 'snapshots')
  const refused = async (args: string[], message: RegExp) => {
    const { code, stderr } = await runCairn(['serve', '--port', '0', '--datadir', temporaryDirectory(t), ...args])
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  await refused(['--snapshots', place], /--snapshots needs --replica or --publish/)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 3, random })
  const upstream = await startForkingUpstream(t, trunk)
  await runCairnOk(['snapshot', 'create', place, '--datadir', upstream.datadir])
  const args = ['--replica', nats.url, '--snapshots', place]
  await refused([...args, '--network', 'sepolia'], /is of chain 20265, --network or --genesis names chain 11155111/)
  const empty = await startMember(t, await branchesDirectory(t), ['--publish', nats.url, '--snapshots', `${place}-2`])
  await untilRole(empty, 'writer')
  await empty.stop()
})
