import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestsAbout } from '../../tools/fuzz-chain/requests/all.js'
import { runCairnOk } from '../support/cairn.js'
import {
  compareSeed,
  type ServedChain,
  SOME,
  SPARSE_LIMITS,
  serveRandomChain,
} from '../support/compare/sparseAnswers.js'
import { compareSparseRows, findSparseDifference } from '../support/compare/sparseRows.js'
import { type Member, startMember, untilRole } from '../support/members.js'
import { NEEDS_NATS, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { ask } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilBlockNumber } from '../support/until.js'
import { type ChangingProxy, startChangingProxy } from '../support/upstream/changingProxy.js'

/* Sparse state in a stream: a replica, a standby that becomes the writer, and processes that are killed. */

const KILLS = THOROUGH ? 20 : 1
const REQUESTS = THOROUGH ? 1_000 : 30

/** A chain whose head the test moves. */
async function growingChain(t: TestContext, seed: number) {
  const chain = await serveRandomChain(t, seed)
  const proxy = await startChangingProxy(t, chain.complete.url)
  const growing = { chain, proxy, head: chain.first + 2 }
  proxy.fault = { call: (call) => hideAbove(call, growing.head) }
  return growing
}

const sparseArgs = ({ genesis, first }: ServedChain) => [
  ...['--genesis', genesis, '--state', 'sparse', '--from', String(first), '--state-fetch', 'proofs', ...SPARSE_LIMITS],
]

const upstreamArgs = ({ url }: ChangingProxy) => ['--upstream', url, '--replication']

async function untilEqual(replica: Member, writer: Member, place: string): Promise<void> {
  await until(() => findSparseDifference(replica.datadir, writer.datadir) === undefined, 20_000).catch(() => {})
  if (findSparseDifference(replica.datadir, writer.datadir)) console.error(await replica.replication())
  compareSparseRows(replica.datadir, writer.datadir, place)
}

test(
  'a replica and a standby of a stream get sparse state, and the standby continues with it as the writer',
  NEEDS_NATS,
  async (t) => {
    const growing = await growingChain(t, 1)
    const { chain, proxy } = growing
    const nats = await startNats(t)
    const args = sparseArgs(chain)
    const writer = await startMember(t, temporaryDirectory(t), [...args, '--publish', nats.url, ...upstreamArgs(proxy)])
    await untilRole(writer, 'writer')
    await untilBlockNumber(writer, growing.head)
    const stream = ['--replica', nats.url, '--replica-http', writer.url]
    const replica = await startMember(t, temporaryDirectory(t), [...args, ...stream])
    const standby = await startMember(t, temporaryDirectory(t), [
      ...args,
      ...stream,
      '--standby',
      ...upstreamArgs(proxy),
    ])
    await untilBlockNumber(replica, growing.head)
    growing.head += 3
    await untilBlockNumber(replica, growing.head)
    await compareSeed(writer, chain, 3, REQUESTS, SOME)
    growing.head += 2
    for (const each of [writer, replica, standby]) await untilBlockNumber(each, growing.head)
    await untilEqual(replica, writer, 'the replica')
    await untilEqual(standby, writer, 'the standby')
    await writer.kill()
    await untilRole(standby, 'writer')
    growing.head += 2
    await untilBlockNumber(standby, growing.head)
    await compareSeed(standby, chain, 4, REQUESTS, SOME)
    await untilEqual(replica, standby, 'the replica of the standby')
    const again = await startMember(t, writer.datadir, [...args, '--publish', nats.url, ...upstreamArgs(proxy)])
    growing.head = chain.head
    for (const each of [standby, replica, again]) await untilBlockNumber(each, growing.head)
    assert.equal((await again.replication()).role, 'standby')
    await untilEqual(again, standby, 'the first writer')
    await untilEqual(replica, standby, 'the replica at the end')
    for (const each of [again, replica, standby]) {
      await each.stop()
      assert.match(await runCairnOk(['verify', '--datadir', each.datadir]), /^state: roots of \d+ blocks, /m)
    }
  },
)

test('kill -9 of the writer and of a replica over HTTP leaves equal databases', { timeout: 600_000 }, async (t) => {
  const random = seededRandom(77)
  const growing = await growingChain(t, 2)
  const { chain, proxy } = growing
  const args = sparseArgs(chain)
  const [datadir, own] = [temporaryDirectory(t), temporaryDirectory(t)]
  const requests = [...requestsAbout(chain.facts, random, 60 * (KILLS + 1))]
  const start = () => startMember(t, datadir, [...args, ...upstreamArgs(proxy)])
  const startReplica = ({ url }: Member) => startMember(t, own, [...args, '--replica', url])
  for (let kill = 0; kill < KILLS; kill++) {
    const writer = await start()
    const replica = await startReplica(writer)
    const asking = requests.splice(0, 60).map(async ({ method, params }, i) => {
      await sleep(i * 10)
      await ask(i % 2 === 0 ? writer.url : replica.url, method, params).catch(() => {}) // killed meanwhile
    })
    growing.head = Math.min(chain.head, growing.head + 2)
    await sleep(random.below(800))
    const [first, second] = random.below(2) === 0 ? [writer, replica] : [replica, writer]
    await first.kill()
    await sleep(random.below(200))
    await second.kill()
    await Promise.all(asking)
    for (const each of [datadir, own]) await runCairnOk(['verify', '--datadir', each])
  }
  growing.head = chain.head
  const writer = await start()
  const replica = await startReplica(writer)
  await untilBlockNumber(replica, chain.head)
  await untilEqual(replica, writer, 'after the kills')
  const { differences } = await compareSeed(replica, chain, 9, REQUESTS, SOME)
  assert.deepEqual(differences.slice(0, 3), [])
})

/** The call with an earlier head in place of the newest block. */
function hideAbove<T extends { method: string; params: unknown[] }>(call: T, head: number): T {
  const [first, ...rest] = call.params
  return first === 'latest' ? { ...call, params: [`0x${head.toString(16)}`, ...rest] } : call
}
