import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { streamName, streamSubject } from '../../src/replication/nats/stream.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { growBranch } from '../support/chains/branches.js'
import { compareRows } from '../support/compare/compareChains.js'
import {
  branchesDirectory,
  type Member,
  startMember,
  untilFollowing,
  untilHead,
  untilRole,
} from '../support/members.js'
import { NEEDS_NATS, openLink, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { send } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* Replicas of a writer that publishes to a real nats-server. */

const random = seededRandom(1819)
const hashOf = (block: { hash: Uint8Array } | undefined) => formatData(block!.hash)

const CALLS = [
  { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{ fromBlock: '0x0', toBlock: 'latest' }] },
  { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] },
]

const askAll = (member: Member) => Promise.all(CALLS.map(async (call) => JSON.stringify(await send(member.url, call))))

/** Asks the members again and again; gives every answer that differed. */
function readAll(members: readonly Member[]) {
  const seen = CALLS.map(() => new Set<string>())
  let isOver = false
  let count = 0
  const read = async (member: Member) => {
    while (!isOver) {
      for (const [i, answer] of (await askAll(member)).entries()) seen[i].add(answer)
      count++
    }
  }
  const reading = Promise.all(members.map(read))
  const untilRead = (times: number) => until(async () => count >= times)
  return {
    /** Resolves when each has answered twice, on average. */
    begun: () => untilRead(2 * members.length),
    /** Ends once each has answered twice more, on average. Returns the answers that differed. */
    finish: async () => {
      await untilRead(count + 2 * members.length)
      isOver = true
      await reading
      return seen
    },
  }
}

test(
  'reorgs of 1, 3 and 32 blocks on replicas that are read: only the old chain and the new one answer',
  NEEDS_NATS,
  async (t) => {
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 40, random })
    const upstream = await startForkingUpstream(t, trunk)
    const nats = await startNats(t)
    const writer = await startMember(t, await branchesDirectory(t), ['--publish', nats.url, '--upstream', upstream.url])
    await untilRole(writer, 'writer')
    const replicas: Member[] = []
    for (let i = 0; i < (THOROUGH ? 3 : 1); i++)
      replicas.push(await startMember(t, await branchesDirectory(t), ['--replica', nats.url]))
    await untilHead([writer, ...replicas], hashOf(trunk.at(-1)))
    let current = trunk
    for (const depth of [1, 3, 32]) {
      const kept = current.slice(0, current.length - depth)
      const branch = await growBranch(temporaryDirectory(t), { trunk: kept, count: depth + 1, random })
      const before = await askAll(writer)
      const { begun, finish } = readAll(replicas)
      await begun()
      current = [...kept, ...branch]
      await upstream.become(current)
      await untilHead([writer, ...replicas], hashOf(branch.at(-1)))
      const seen = await finish()
      const after = await askAll(writer)
      for (const [i, answers] of seen.entries()) {
        assert.deepEqual([...answers].sort(), [before[i], after[i]].sort(), `${depth} blocks, ${CALLS[i].method}`)
      }
    }
    for (const each of [writer, ...replicas]) {
      await each.stop()
      compareRows(each.datadir, upstream.datadir, each.datadir)
    }
  },
)

/** Makes the stream of the chain in a database, which keeps few messages. */
async function makeShortStream(
  t: TestContext,
  nats: { url: string },
  datadir: string,
  messages: number,
): Promise<void> {
  const db = openForReading(datadir)
  const reader = createChainReader(db)
  const chain = { chainId: reader.chainId(), genesisHash: reader.blockHash(0)! }
  db.close()
  const { manager } = await openLink(t, [nats])
  await manager.streams.add({ name: streamName(chain), subjects: [streamSubject(chain)], max_msgs: messages })
}

test(
  'a replica behind retention says so, skips nothing, and continues over HTTP; one that stands still delays no other',
  NEEDS_NATS,
  async (t) => {
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 60, random })
    const upstream = await startForkingUpstream(t, trunk.slice(0, 20))
    const nats = await startNats(t)
    const datadir = await branchesDirectory(t)
    await makeShortStream(t, nats, datadir, 20)
    const writer = await startMember(t, datadir, ['--publish', nats.url, '--upstream', upstream.url, '--replication'])
    await untilRole(writer, 'writer')
    await untilHead([writer], hashOf(trunk[19]))
    const repaired = ['--replica', nats.url, '--replica-http', writer.url]
    const away = await startMember(t, await branchesDirectory(t), repaired)
    const slow = await startMember(t, await branchesDirectory(t), repaired)
    await untilHead([away, slow], hashOf(trunk[19]))
    await away.stop()
    slow.signal('SIGSTOP')
    await upstream.become(trunk)
    await untilHead([writer], hashOf(trunk[59]))
    await until(async () => (await writer.replication()).lagBlocks === 0)
    const behind = await startMember(t, away.datadir, ['--replica', nats.url])
    await until(async () => (await behind.replication()).state === 'alarm')
    assert.match((await behind.replication()).problem!, /stream CAIRN_20265: expected 21 next, got 4\d/)
    assert.equal(await behind.ready(), 503)
    assert.equal(await behind.head(), hashOf(trunk[19]))
    await behind.stop()
    const back = await startMember(t, away.datadir, repaired)
    slow.signal('SIGCONT')
    await untilHead([back, slow], hashOf(trunk[59]))
    for (const each of [back, slow]) {
      await untilFollowing(each)
      assert.equal(await each.ready(), 200)
      await each.stop()
      compareRows(each.datadir, upstream.datadir, each.datadir)
    }
  },
)
