import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { growBranch } from '../support/chains/branches.js'
import { parseExposition } from '../support/exposition.js'
import { freePort } from '../support/freePort.js'
import { branchesDirectory, type Member, startMember, untilHead, untilRole } from '../support/members.js'
import { NEEDS_NATS, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* What a replica says of itself while it has no contact with its source. */

const random = seededRandom(1820)
const MAX_LAG_SECONDS = 2

const isReady = async (member: Member) => (await member.ready()) === 200

/** Resolves once a replica that is cut off says so. Until then another one, whose source is there, must be ready and
 *  not behind. */
async function untilCutOff(cut: Member, other: Member): Promise<void> {
  await until(async () => {
    const { lagSeconds, lagBlocks, problem } = await other.replication()
    // After 10 s without a writer, the lease no longer says how far it is behind.
    if (lagBlocks === null) return !(await isReady(cut))
    assert.deepEqual({ lagSeconds, lagBlocks, problem }, { lagSeconds: 0, lagBlocks: 0, problem: null })
    assert.ok(await isReady(other))
    return !(await isReady(cut))
  })
  const { error } = (await (await fetch(`${cut.url}/ready`)).json()) as { error: string }
  assert.match(error, /^\d+ s behind, at most 2 are allowed \(--max-lag-seconds\): \S/)
  const { lagSeconds, state, problem } = await cut.replication()
  assert.ok(lagSeconds > MAX_LAG_SECONDS)
  assert.notEqual(problem, null)
  assert.equal(state, 'following')
  const page = parseExposition(await (await fetch(`${cut.url}/metrics`)).text())
  assert.ok(page.value('cairn_replication_lag_seconds')! > MAX_LAG_SECONDS)
  assert.equal(page.value('cairn_replication_problem'), 1)
}

async function untilBack(member: Member): Promise<void> {
  await until(async () => {
    const { lagSeconds, problem } = await member.replication()
    return lagSeconds === 0 && problem === null && (await isReady(member))
  })
}

test('seconds without contact are lag: /ready fails, and answers again with the source', NEEDS_NATS, async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random })
  const hashAt = (number: number) => formatData(trunk[number - 1].hash)
  const upstream = await startForkingUpstream(t, trunk.slice(0, 4))
  const nats = await startNats(t)
  const port = String(await freePort())
  const limits = ['--max-lag-seconds', String(MAX_LAG_SECONDS), '--metrics']
  const source = `http://127.0.0.1:${port}`
  const http = await startMember(t, await branchesDirectory(t), ['--replica', source, ...limits])
  // Started without its source, it is not ready until the source is there.
  await until(async () => (await http.replication()).problem !== null)
  assert.equal((await http.replication()).state, 'catching up')
  assert.equal(await http.ready(), 503)
  const args = ['--publish', nats.url, '--upstream', upstream.url, '--replication', '--port', port]
  const writer = await startMember(t, await branchesDirectory(t), args)
  await untilRole(writer, 'writer')
  const streamed = await startMember(t, await branchesDirectory(t), ['--replica', nats.url, ...limits])
  await untilHead([http, streamed], hashAt(4))
  for (const each of [http, streamed]) await untilBack(each)

  writer.signal('SIGSTOP') // connections stay
  await untilCutOff(http, streamed)
  assert.equal(await http.head(), hashAt(4))
  writer.signal('SIGCONT')
  await untilBack(http)

  nats.freeze()
  await untilCutOff(streamed, http)
  // The writer loses the lease, and its first attempts to connect are not answered.
  await untilRole(writer, 'standby')
  await until(async () => /NATS at \S+: timeout/.test((await writer.replication()).problem ?? ''))
  nats.thaw()
  await untilBack(streamed)
  await untilRole(writer, 'writer')

  await writer.kill()
  await untilCutOff(http, streamed)
  await startMember(t, writer.datadir, args)
  await upstream.become(trunk)
  await untilHead([http, streamed], hashAt(6))
  for (const each of [http, streamed]) await untilBack(each)
})
