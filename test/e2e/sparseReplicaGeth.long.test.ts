import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { createMetaTable, META_CHAIN } from '../../src/store/meta.js'
import { openForReading } from '../../src/store/open.js'
import { runCairnOk } from '../support/cairn.js'
import { compareSparseRows, findSparseDifference } from '../support/compare/sparseRows.js'
import { type Member, startMember } from '../support/members.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilBlockNumber } from '../support/until.js'
import { type Peer, reachHead, startTraffic } from '../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'

/* A writer with sparse state that follows a running geth, and replicas of it. */

const startWriter = (t: TestContext, peer: Peer, datadir = temporaryDirectory(t), args: readonly string[] = []) =>
  startMember(t, datadir, [
    ...['--network', 'dev', '--state', 'sparse', '--state-fetch', 'proofs', '--upstream', peer.wsUrl, '--replication'],
    ...args,
  ])

/** Starts a replica of the writer's chain, whose genesis only the upstream knows. */
function startReplica(t: TestContext, writer: Member, datadir = temporaryDirectory(t)): Promise<Member> {
  return startMember(t, datadir, [
    ...['--genesis', genesisFile(t, writer.datadir), '--state', 'sparse', '--replica', writer.url],
  ])
}

function genesisFile(t: TestContext, datadir: string): string {
  const db = openForReading(datadir)
  const { genesis } = createMetaTable(db).get<{ genesis: object }>(META_CHAIN)!
  db.close()
  const path = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(path, JSON.stringify(genesis))
  return path
}

async function untilEqual(replica: Member, writer: Member, place: string): Promise<void> {
  await until(() => findSparseDifference(replica.datadir, writer.datadir) === undefined, 20_000).catch(() => {})
  if (findSparseDifference(replica.datadir, writer.datadir)) console.error(await replica.replication())
  compareSparseRows(replica.datadir, writer.datadir, place)
}

/** Asks the writer for accounts that no request asked for before. */
async function askForNew({ url }: { url: string }, seed: number): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const address = `0x${(seed * 100 + i).toString(16).padStart(40, '5')}`
    await resultOf(url, 'eth_getBalance', [address, 'latest'])
  }
}

test('reorgs and fetched state reach a replica, row for row', { skip: SKIP_GETH, timeout: 600_000 }, async (t) => {
  const peer = await startGethPeer(t)
  const traffic = await startTraffic(peer)
  await traffic.mine(20)
  const writer = await startWriter(t, peer)
  const head = await reachHead(writer, peer)
  const replica = await startReplica(t, writer)
  await untilBlockNumber(replica, head)
  await untilEqual(replica, writer, 'at the start')
  for (const [i, depth] of (THOROUGH ? [1, 3, 12] : [1, 12]).entries()) {
    await traffic.mine(depth + 3)
    await reachHead(writer, peer)
    await askForNew(writer, 10 * i)
    await traffic.mine(1)
    await reachHead(writer, peer)
    await askForNew(writer, 10 * i + 1)
    await untilEqual(replica, writer, `before a reorg of ${depth}`)
    await peer.reorg(depth)
    await traffic.mine(depth + 2)
    await reachHead(writer, peer)
    await askForNew(writer, 10 * i + 2)
    await untilEqual(replica, writer, `after a reorg of ${depth}`)
    const late = await startReplica(t, writer)
    await untilEqual(late, writer, `begun after a reorg of ${depth}`)
    await late.stop()
  }
  const number = formatQuantity(await reachHead(writer, peer))
  for (const to of traffic.loggers) {
    const [own, wanted] = await Promise.all([replica, peer].map(({ url }) => ask(url, 'eth_call', [{ to }, number])))
    assert.deepEqual(own.result, wanted.result)
  }
  for (const each of [writer, replica]) {
    await each.stop()
    assert.match(await runCairnOk(['verify', '--datadir', each.datadir]), /^state: roots of \d+ blocks, /m)
  }
})

test('a gap, a rewind below the first block and a new begin of state reach a replica', {
  skip: SKIP_GETH || (!THOROUGH && 'runs with test:thorough'),
  timeout: 600_000,
}, async (t) => {
  const peer = await startGethPeer(t, ['--gcmode=full', '--state.scheme=path', '--history.state=1'])
  const traffic = await startTraffic(peer)
  await traffic.mine(20)
  const away = await startWriter(t, peer)
  await traffic.mine(5)
  await reachHead(away, peer)
  const replica = await startReplica(t, away)
  await untilEqual(replica, away, 'before the gap')
  await replica.stop()
  await away.stop()
  await traffic.mine(160)
  const writer = await startWriter(t, peer, away.datadir)
  await reachHead(writer, peer)
  await traffic.mine(5)
  await reachHead(writer, peer)
  await askForNew(writer, 1)
  const own = await startReplica(t, writer, replica.datadir)
  await untilEqual(own, writer, 'after the gap')
  const late = await startReplica(t, writer)
  await untilEqual(late, writer, 'begun after the gap')
  for (const each of [writer, own, late]) {
    await each.stop()
    assert.match(await runCairnOk(['verify', '--datadir', each.datadir]), /^state: roots of \d+ blocks, /m)
  }
})
