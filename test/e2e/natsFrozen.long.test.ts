import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatData } from '../../src/lib/hex.js'
import { growBranch } from '../support/chains/branches.js'
import { compareRows } from '../support/compare/compareChains.js'
import { branchesDirectory, startMember, untilHead, untilRole } from '../support/members.js'
import { leaderOf, NEEDS_NATS, openLink, startNatsCluster } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* Whole servers, with the lease: the frozen NATS server leads the stream or the lease, or both. */

const options = { ...NEEDS_NATS, skip: NEEDS_NATS.skip || (!THOROUGH && 'with test:thorough') }
const random = seededRandom(1846)
const [BLOCKS, FROZEN_AT] = [60, 12]
const BLOCK_MS = 250

for (const led of ['CAIRN_20265', 'KV_CAIRN_20265_LEASE']) {
  test(`a frozen leader of ${led} loses no block, doubles none, and leaves one writer`, options, async (t) => {
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: BLOCKS, random })
    const upstream = await startForkingUpstream(t, trunk.slice(0, 10))
    const servers = await startNatsCluster(t)
    const urls = servers.map(({ url }) => url).join(',')
    const publish = ['--publish', urls, '--stream-replicas', '3', '--upstream', upstream.url]
    const writer = await startMember(t, await branchesDirectory(t), publish)
    await untilRole(writer, 'writer')
    const replica = await startMember(t, await branchesDirectory(t), ['--replica', urls])
    await untilHead([replica], formatData(trunk[9].hash))
    const observer = await openLink(t, servers)
    const leaders = await Promise.all(['CAIRN_20265', 'KV_CAIRN_20265_LEASE'].map((name) => leaderOf(observer, name)))
    const victim = servers.find(({ name }) => name === leaders[led === 'CAIRN_20265' ? 0 : 1])!
    const { epoch } = await writer.replication()
    let [head, sinceMs, longestMs] = ['', performance.now(), 0]
    for (let number = 11; number <= BLOCKS; number++) {
      if (number === FROZEN_AT) victim.freeze()
      await upstream.become(trunk.slice(0, number))
      await sleep(BLOCK_MS)
      const found = await replica.head()
      if (found === head) continue
      longestMs = Math.max(longestMs, performance.now() - sinceMs)
      ;[head, sinceMs] = [found, performance.now()]
    }
    await untilHead([replica], formatData(trunk.at(-1)!.hash))
    longestMs = Math.max(longestMs, performance.now() - sinceMs)
    victim.thaw()
    await untilRole(writer, 'writer')
    const terms = (await writer.replication()).epoch === epoch ? 'kept the lease' : 'took the lease again'
    t.diagnostic(
      `longest stall ${(longestMs / 1000).toFixed(1)} s at the replica; the writer ${terms}; leaders ${leaders}`,
    )
    for (const each of [writer, replica]) {
      await each.stop()
      compareRows(each.datadir, upstream.datadir, each.datadir)
    }
  })
}
