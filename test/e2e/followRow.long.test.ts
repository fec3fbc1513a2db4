import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { type CairnServer, serveFixture, startCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch } from '../support/chains/branches.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { compareServers } from '../support/compare/compareServers.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilBlock } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/** A server that follows, with its data directory. */
async function startFollower(
  t: TestContext,
  upstream: string,
  genesis: string,
): Promise<CairnServer & { datadir: string }> {
  const datadir = temporaryDirectory(t)
  const args = ['--datadir', datadir, '--genesis', genesis, '--open', '--upstream', upstream]
  return { ...(await startCairn(t, args)), datadir }
}

test('a Cairn that follows over WebSocket one that follows over HTTP one with files answers as that', async (t) => {
  const first = await serveFixture(t)
  const genesis = join(FIXTURE_FOLDER, 'genesis.json')
  const second = await startFollower(t, first.url, genesis)
  const third = await startFollower(t, second.socketUrl, genesis)
  const { hash } = await resultOf<{ hash: string }>(first.url, 'eth_getBlockByNumber', ['latest', false])
  await untilBlock(third, hash)
  await compareServers(first, third, third.datadir)
})

test('of three nodes in a row all answer the same after each reorg of the first', async (t) => {
  const random = seededRandom(3)
  let trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 12, random })
  const first = await startForkingUpstream(t, trunk)
  const genesis = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesis, JSON.stringify(BRANCHES_GENESIS))
  const second = await startFollower(t, first.url, genesis)
  const third = await startFollower(t, second.socketUrl, genesis)
  for (const depth of [0, 1, 7]) {
    const kept = trunk.slice(0, trunk.length - depth)
    trunk = [...kept, ...(await growBranch(temporaryDirectory(t), { trunk: kept, count: depth + 1, random }))]
    await first.become(trunk)
    await untilBlock(third, formatData(trunk.at(-1)!.hash))
    await compareServers(first, third, third.datadir)
    await compareServers(second, third, third.datadir)
  }
})
