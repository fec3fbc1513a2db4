import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { growBranch } from '../support/chains/branches.js'
import { compareRows } from '../support/compare/compareChains.js'
import { branchesDirectory, startMember, untilHead, untilRole } from '../support/members.js'
import { SKIP_HAPROXY, startHaproxy } from '../support/nats/haproxy.js'
import { NEEDS_NATS, startNatsCluster } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* The worked example of docs/replication.md in small: three NATS servers, a writer, a standby, two replicas and
 * HAProxy. */

const skip = NEEDS_NATS.skip || SKIP_HAPROXY

test('a service of many machines continues when its writer and a NATS server are killed', { skip }, async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 20, random: seededRandom(1820) })
  const hashOf = (index: number) => formatData(trunk[index].hash)
  const upstream = await startForkingUpstream(t, trunk.slice(0, 10))
  const nats = await startNatsCluster(t)
  const servers = nats.map(({ url }) => url).join(',')
  const follow = ['--upstream', upstream.url, '--stream-replicas', '3', '--replication', '--forward-transactions']
  const writer = await startMember(t, await branchesDirectory(t), ['--publish', servers, ...follow])
  await untilRole(writer, 'writer')
  const standby = await startMember(t, await branchesDirectory(t), ['--replica', servers, '--standby', ...follow])
  const startReplica = async () => {
    const args = ['--replica', servers, '--replica-http', standby.url, '--max-lag', '4', '--min-block-wait', '1000']
    return startMember(t, await branchesDirectory(t), args)
  }
  const replicas = await Promise.all([startReplica(), startReplica()])
  await untilHead([standby, ...replicas], hashOf(9))
  const hostOf = ({ url }: { url: string }) => new URL(url).host
  const balancer = await startHaproxy(t, {
    replicas: replicas.map(hostOf),
    writer: hostOf(writer),
    standby: hostOf(standby),
  })
  await balancer.untilRotation(['r1', 'r2'])

  let answers = 0
  const stop = new AbortController()
  t.after(() => stop.abort())
  const read = async () => {
    let highest = 0
    while (!stop.signal.aborted) {
      const headers = { 'Content-Type': 'application/json', 'Cairn-Min-Block': String(highest) }
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'
      const response = await fetch(balancer.url, { method: 'POST', headers, body })
      const { result } = (await response.json()) as { result: string }
      assert.equal(response.status, 200)
      assert.ok(Number(result) >= highest, `${result} after ${highest}`)
      highest = Math.max(highest, Number(result))
      answers++
    }
  }
  const clients = Promise.all(Array.from({ length: 4 }, read))
  clients.catch(() => stop.abort())
  const untilAnswers = async (more: number) => {
    const wanted = answers + more
    await until(() => answers >= wanted || stop.signal.aborted)
  }

  const before = (await writer.replication()).epoch
  await writer.kill()
  await untilAnswers(20)
  await untilRole(standby, 'writer')
  assert.ok((await standby.replication()).epoch > before)
  await upstream.become(trunk.slice(0, 15))
  await untilHead(replicas, hashOf(14))
  await nats[0].kill()
  await untilAnswers(20)
  await upstream.become(trunk)
  await untilHead(replicas, hashOf(19))
  assert.equal(await resultOf(balancer.url, 'eth_blockNumber'), '0x14')
  // The killed writer's transactions go to the standby.
  await until(async () => {
    const servers = (await balancer.counts()).filter(({ backend }) => backend === 'writers')
    return servers.map(({ status }) => status).join() === 'DOWN,UP'
  })
  const again = await startMember(t, writer.datadir, ['--publish', servers, ...follow])
  await untilHead([again], hashOf(19))
  assert.equal((await again.replication()).role, 'standby')
  stop.abort()
  await clients
  for (const each of [again, ...replicas]) {
    await each.stop()
    compareRows(each.datadir, upstream.datadir, each.datadir)
  }
})
