import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { createLease } from '../../src/replication/nats/lease.js'
import { encodeHead } from '../../src/replication/nats/messageHead.js'
import { openStream } from '../../src/replication/nats/stream.js'
import { messagesOf } from '../../src/replication/nats/unitMessages.js'
import { growBranch } from '../support/chains/branches.js'
import { parseExposition } from '../support/exposition.js'
import { branchesDirectory, type Member, startMember, untilHead, untilRole } from '../support/members.js'
import { NEEDS_NATS, openLink, startNats } from '../support/nats/nats.js'
import { describeBranches, openWriterChain } from '../support/nats/publishing.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* What a replica says of its lag while the writer has blocks that it cannot publish. */

const random = seededRandom(1826)

/** Why `/ready` refuses; undefined when it does not. */
async function refusal({ url }: Member): Promise<string | undefined> {
  const response = await fetch(`${url}/ready`)
  const { error } = (await response.json()) as { error?: string }
  assert.equal(response.status, error === undefined ? 200 : 503)
  return error
}

async function lagMetric({ url }: Member): Promise<number | undefined> {
  return parseExposition(await (await fetch(`${url}/metrics`)).text()).value('cairn_replication_lag_blocks')
}

test('a replica whose NATS is full does not say that it has no lag, and is not ready', NEEDS_NATS, async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 30, random })
  const upstream = await startForkingUpstream(t, trunk.slice(0, 4))
  const nats = await startNats(t, { maxFile: '1M' })
  const publish = ['--publish', nats.url, '--upstream', upstream.url]
  const writer = await startMember(t, await branchesDirectory(t), publish)
  await untilRole(writer, 'writer')
  const limits = ['--max-lag-seconds', '2', '--metrics']
  const replica = await startMember(t, await branchesDirectory(t), ['--replica', nats.url, ...limits])
  await untilHead([replica], formatData(trunk[3].hash))
  await until(async () => (await refusal(replica)) === undefined)
  await until(async () => (await lagMetric(replica)) === 0)

  const link = await openLink(t, [nats])
  await link.manager.streams.add({ name: 'FILLER', subjects: ['filler'] })
  await assert.rejects(async () => {
    for (;;) await link.publisher.publish('filler', new Uint8Array(100_000))
  }, /resource|storage/)
  await upstream.become(trunk)
  // The lease may be lost, or be renewed by a writer that cannot publish.
  await until(async () => [null, 26].includes((await replica.replication()).lagBlocks))
  await until(async () => (await refusal(replica)) !== undefined)
  assert.equal(await replica.head(), formatData(trunk[3].hash))

  await link.manager.streams.delete('FILLER')
  await untilHead([replica], formatData(trunk[29].hash))
  await until(async () => (await refusal(replica)) === undefined && (await replica.replication()).lagBlocks === 0)
})

test(
  'the lease says how far a replica is behind a writer that cannot publish; without one the lag is unknown',
  NEEDS_NATS,
  async (t) => {
    const nats = await startNats(t)
    const link = await openLink(t, [nats])
    const { chain } = await openWriterChain(t)
    const described = describeBranches(chain)
    const genesis = { number: 0, hash: described.genesisHash }
    const { subject } = await openStream(link, described, { create: true })
    const about = { epoch: 1, top: genesis, maxBytes: 700 }
    for (const message of messagesOf({ kind: 'epoch', epoch: 1, head: genesis }, about)) {
      await link.publisher.publish(subject, message.data, { headers: encodeHead(message.head) })
    }
    let head = 7
    const lease = createLease(link, described, { holder: 'a test', head: () => head })
    const held = (await lease.acquire(new AbortController().signal))!
    t.after(() => held.release())
    const replica = await startMember(t, await branchesDirectory(t), [
      ...['--replica', nats.url, '--max-lag', '5', '--max-lag-seconds', '2', '--metrics'],
    ])
    await until(async () => (await replica.replication()).lagBlocks === 7)
    const tooFar = /^7 blocks behind, at most 5 are allowed \(--max-lag\)/
    await until(async () => tooFar.test((await refusal(replica)) ?? ''))
    head = 4
    await until(async () => (await replica.replication()).lagBlocks === 4)
    await until(async () => (await lagMetric(replica)) === 4)
    await held.release()
    await until(async () => (await replica.replication()).lagBlocks === null)
    const noWriter = /^\d+ s behind, at most 2 are allowed \(--max-lag-seconds\): no server has the lease of the writer/
    await until(async () => noWriter.test((await refusal(replica)) ?? ''))
    await until(async () => (await lagMetric(replica)) === undefined)
  },
)
